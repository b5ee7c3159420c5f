/** Whether the build has put all parts into a page of one file. */
declare const INLINE: boolean;
/** Changes with every build: names the offline cache. */
declare const BUILD: string;
