"""The style of a report: light and dark, on a screen and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --text: light-dark(#1c1e21, #e4e6e9);
  --faint: light-dark(#5d636b, #a0a6ae);
  --line: light-dark(#d9dce0, #3a3e44);
  --ground: light-dark(#ffffff, #17191c);
  --bar: light-dark(#8ab6e8, #3d73ab);
}
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
main { max-width: 78rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .25rem; break-after: avoid; }
p { margin: .25rem 0 .75rem; }
.faint, figcaption { color: var(--faint); }
.partial { font-weight: 600; border-left: .35rem solid; padding: .25rem .9rem; color: light-dark(#8a5200, #f0b661); }
.counts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; list-style: none; padding: 0; margin: .75rem 0; }
.counts b { font-size: 1.25rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; margin: .5rem 0; }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: .15em; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr)); gap: 0 2.5rem; }
.pair > section { min-width: 0; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.wide { min-width: 52rem; }
.pair svg { max-width: 42rem; }
svg svg { display: inline; }
svg text { fill: var(--text); }
svg .faint { fill: var(--faint); }
.frame { fill: light-dark(#f0f2f4, #24272b); stroke: var(--ground); stroke-width: 1; }
.cell { stroke: var(--ground); stroke-width: 1; }
.cell:hover, .bar:hover { filter: brightness(1.12); }
.map text { font-size: 11px; }
.map .head { font-weight: 600; }
.arc { fill: none; stroke: var(--faint); stroke-width: 1.2; opacity: .45; }
.arc:hover { stroke: var(--text); stroke-width: 2.5; opacity: 1; }
.dot { fill: var(--bar); stroke: var(--ground); stroke-width: 1; }
.bar { fill: var(--bar); }
.end { text-anchor: end; }
.c0 { fill: light-dark(#8ab6e8, #2f5d8f); background: light-dark(#8ab6e8, #2f5d8f); }
.c1 { fill: light-dark(#f2b56b, #8a5a1c); background: light-dark(#f2b56b, #8a5a1c); }
.c2 { fill: light-dark(#93cf9b, #2f6b3a); background: light-dark(#93cf9b, #2f6b3a); }
.c3 { fill: light-dark(#e59aa0, #86393f); background: light-dark(#e59aa0, #86393f); }
.c4 { fill: light-dark(#b9a6e0, #58459a); background: light-dark(#b9a6e0, #58459a); }
.c5 { fill: light-dark(#7fd0cb, #1f6b67); background: light-dark(#7fd0cb, #1f6b67); }
.c6 { fill: light-dark(#e6cf6d, #74641a); background: light-dark(#e6cf6d, #74641a); }
.c7 { fill: light-dark(#d9a3cf, #7a3f70); background: light-dark(#d9a3cf, #7a3f70); }
.c8 { fill: light-dark(#b8c08a, #565e2c); background: light-dark(#b8c08a, #565e2c); }
.c9 { fill: light-dark(#d0d4d9, #444a52); background: light-dark(#d0d4d9, #444a52); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th { text-align: left; color: var(--faint); font-weight: 600; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
td:first-child, td:nth-child(2) { white-space: nowrap; }
td:last-child { color: var(--faint); }
.number { text-align: right; white-space: nowrap; }
section, figure { break-inside: avoid; margin: 0; }
figure { overflow-x: auto; }
@media print {
  :root { color-scheme: light; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 9pt; }
  main { max-width: none; padding: 0; }
  .wide { min-width: 0; }
  .pair { grid-template-columns: 1fr 1fr; gap: 0 1rem; }
}
"""
