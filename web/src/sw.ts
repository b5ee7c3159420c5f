/** Keeps the folder's files, so that the page works without a network after the first visit. */

const scope = self as unknown as ServiceWorkerGlobalScope;
const CACHE = `npsim-${BUILD}`;
const PARTS = ["./", "index.html", "app.js", "worker.js", "style.css", "npsim.wasm.xz", "files.pack.xz"];

scope.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(CACHE).then((cache) => cache.addAll(PARTS)).then(() => scope.skipWaiting()),
  );
});

scope.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys()
      .then((keys) => Promise.all(keys.filter((it) => it.startsWith("npsim-") && it !== CACHE).map((it) => caches.delete(it))))
      .then(() => scope.clients.claim()),
  );
});

scope.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(
    caches.match(event.request, { ignoreSearch: true, cacheName: CACHE }).then((kept) => kept ?? fetch(event.request)),
  );
});
