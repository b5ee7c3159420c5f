/** Syntax colours that need no answer from the analysis: microcode and project files. */

import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from "@codemirror/language";
import { tagHighlighter, tags } from "@lezer/highlight";
import type { Extension } from "@codemirror/state";

const microcode: StreamParser<{ comment: boolean }> = {
  name: "uc",
  startState: () => ({ comment: false }),
  token(stream, state) {
    if (state.comment || stream.match("/*")) {
      state.comment = !stream.match(/.*?\*\//);
      if (state.comment) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/;.*|\/\/.*/)) return "comment";
    if (stream.match(/"[^"]*"?|'[^']*'?/)) return "string";
    if (stream.match(/#\s*[a-z_]+/i) || stream.match(/\.[a-z_]+/i)) return "meta";
    if (stream.match(/\w+#/)) return "labelName";
    if (stream.match(/0x[0-9a-f_]+|\d[\d_]*/i)) return "number";
    if (stream.match(/\$\$?\w+/)) return "variableName.special";
    if (stream.match(/[a-z_]\w*[!=]?=?\w*(?=\[)/i)) return "keyword";
    if (stream.match(/[a-z_]\w*(?=\()/i)) return "macroName";
    if (!stream.match(/\w+/)) stream.next();
    return null;
  },
};

const project: StreamParser<Record<string, never>> = {
  name: "project",
  startState: () => ({}),
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/#.*/)) return "comment";
    if (stream.sol() && stream.match(/\[\[?[\w.\s-]+\]?\]/)) return "heading";
    if (stream.match(/"(?:[^"\\]|\\.)*"?|'[^']*'?/)) return "string";
    if (stream.match(/[\w.-]+(?=\s*=)/)) return "propertyName";
    if (stream.match(/0x[0-9a-f_]+|-?\d[\d_.]*|true|false/i)) return "number";
    stream.next();
    return null;
  },
};

const classes = tagHighlighter([
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: tags.meta, class: "tok-directive" },
  { tag: tags.macroName, class: "tok-macro" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.string, class: "tok-string" },
  { tag: tags.number, class: "tok-number" },
  { tag: tags.labelName, class: "tok-label" },
  { tag: tags.special(tags.variableName), class: "tok-transfer" },
  { tag: tags.heading, class: "tok-section" },
  { tag: tags.propertyName, class: "tok-key" },
]);

export function languageOf(path: string): Extension {
  const parser = path.endsWith(".toml") ? project : path.endsWith(".uc") ? microcode : null;
  if (!parser) return [];
  const comments = { commentTokens: { line: parser === project ? "#" : ";" } };
  return [
    StreamLanguage.define({ ...(parser as StreamParser<unknown>), languageData: comments }),
    syntaxHighlighting(classes as unknown as HighlightStyle),
  ];
}
