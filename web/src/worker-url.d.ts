/** What the build puts into a page of one file; empty in the folder. */
declare const INLINE: boolean;
/** Changes with every build: names the offline cache. */
declare const BUILD: string;
