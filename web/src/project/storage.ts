/** Storage in the browser: changed and own files by path. Nothing is sent anywhere. */

const STORE = "files";

let database: Promise<IDBDatabase> | null = null;

function open(): Promise<IDBDatabase> {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("npsim-laboratory", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return database;
}

async function transact(mode: IDBTransactionMode, act: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = (await open()).transaction(STORE, mode);
  act(transaction.objectStore(STORE));
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
  });
}

export async function keptFiles(): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  await transact("readonly", (store) => {
    store.openCursor().onsuccess = (event) => {
      const cursor = (event.target as IDBRequest<IDBCursorWithValue | null>).result;
      if (!cursor) return;
      files.set(String(cursor.key), cursor.value as Uint8Array);
      cursor.continue();
    };
  });
  return files;
}

export const keepFile = (path: string, bytes: Uint8Array) => transact("readwrite", (store) => store.put(bytes, path));
export const forgetFile = (path: string) => transact("readwrite", (store) => store.delete(path));
