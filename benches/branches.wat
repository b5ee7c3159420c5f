;; The kernel of branches.uc, operation for operation.
(module
  (func (export "run") (param $count i32) (result i32)
    (local $x i32) (local $sum i32) (local $mix i32)
    (local.set $x (i32.const 0x9e37))
    (loop $again
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 13))))
      (local.set $x (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 17))))
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 5))))
      (if (i32.and (local.get $x) (i32.const 1))
        (then (local.set $sum (i32.add (local.get $sum) (local.get $x)))))
      (local.set $mix (i32.xor (local.get $mix) (local.get $sum)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
    (i32.xor (local.get $mix) (local.get $sum))))
