pub(super) fn grant(limit: i32, granted: u32, code: u8) -> u8 {
    let free = i64::from(limit) - i64::from(granted as i32);
    (1..=code).rev().find(|&k| 1i64 << k <= free).unwrap_or(0)
}
pub(super) fn units(code: u8) -> u32 {
    if code == 0 { 0 } else { 1 << code }
}
pub(super) fn depart(_registers: &mut [u32; 5], _x: u32, _size: u32, delta: i32) -> i32 {
    delta
}
