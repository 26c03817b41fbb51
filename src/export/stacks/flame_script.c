/*
 * The style and the script of flame graphs.
 *
 * The script gets nothing but what stands in the picture, and makes texts of it,
 * never markup: names are from anybody.  It fetches nothing, and has no handlers in
 * attributes.  Without it the picture is whole, too.
 */
#include "export/stacks/flame_script.h"

static const char *const style[] = {
	".hw-f{cursor:pointer}",
	".hw-f:hover rect{stroke:#000;stroke-width:.7}",
	".hw-m rect{fill:#e040e0}",
	".hw-p{opacity:.5}",
	".hw-h{display:none}",
	".hw-f text{pointer-events:none}",
	".hw-b{cursor:pointer;text-decoration:underline}",
};

/*
 * Frames stand in the order of the tree, each before all that is in it, so what
 * is in frame i are those from i + 1 to end[i].
 */
static const char *const script[] = {
	"(function () {",
	"\"use strict\";",
	"var me = document.currentScript;",
	"var svg = me && me.ownerSVGElement || document.documentElement;",
	"var one = function (c) { return svg.querySelector(\".hw-\" + c); };",
	"var num = function (e, a) { return +e.getAttribute(a); };",
	"var all = num(svg, \"data-width\"), em = num(svg, \"data-em\");",
	"var icicle = num(svg, \"data-icicle\");",
	"var reset = one(\"reset\"), find = one(\"find\"), hits = "
	"one(\"hits\");",
	"var details = one(\"details\"), box = null;",
	"var frames = [], open = [];",
	"svg.querySelectorAll(\".hw-f\").forEach(function (g, i) {",
	"  var r = g.querySelector(\"rect\");",
	"  var tip = g.querySelector(\"title\").textContent.split(\"\\n\");",
	"  var f = { g: g, r: r, t: g.querySelector(\"text\"), tip: tip,",
	"      x: num(r, \"x\"), w: num(r, \"width\"), y: num(r, \"y\"),",
	"      end: 0, up: -1 };",
	"  var deeper = function (o) {",
	"    return icicle ? o.y < f.y : o.y > f.y;",
	"  };",
	"  while (open.length && !deeper(frames[open[open.length - 1]]))",
	"    frames[open.pop()].end = i;",
	"  if (open.length) f.up = open[open.length - 1];",
	"  open.push(i);",
	"  frames.push(f);",
	"});",
	"open.forEach(function (i) { frames[i].end = frames.length; });",
	"var left = frames.length ? frames[0].x : 0;",
	"function fit(f, x, w) {",
	"  var n = Math.floor((w - 6) / em), name = f.tip[0];",
	"  f.r.setAttribute(\"x\", x);",
	"  f.r.setAttribute(\"width\", w);",
	"  if (n < 3) {",
	"    if (f.t) f.t.textContent = \"\";",
	"    return;",
	"  }",
	"  if (!f.t) {",
	"    f.t = document.createElementNS(",
	"        \"http://www.w3.org/2000/svg\", \"text\");",
	"    f.t.setAttribute(\"y\", f.y + 12);",
	"    f.g.appendChild(f.t);",
	"  }",
	"  f.t.setAttribute(\"x\", x + 3);",
	"  var c = Array.from(name);",
	"  f.t.textContent = c.length <= n ? name",
	"      : c.slice(0, n - 2).join(\"\") + \"..\";",
	"}",
	"function zoom(i) {",
	"  var f = frames[i], up = {}, j;",
	"  for (j = f.up; j >= 0; j = frames[j].up) up[j] = true;",
	"  frames.forEach(function (o, k) {",
	"    var inside = k >= i && k < f.end;",
	"    o.g.classList.toggle(\"hw-h\", !inside && !up[k]);",
	"    o.g.classList.toggle(\"hw-p\", !!up[k]);",
	"    if (up[k]) fit(o, left, all);",
	"    else if (inside)",
	"      fit(o, left + (o.x - f.x) / f.w * all, o.w / f.w * all);",
	"  });",
	"  reset.setAttribute(\"visibility\", i ? \"visible\" : \"hidden\");",
	"}",
	"function search(text) {",
	"  var q = text.toLowerCase(), sum = 0, past = 0;",
	"  frames.forEach(function (f, i) {",
	"    var hit = q !== \"\" && f.tip[0].toLowerCase().indexOf(q) >= 0;",
	"    f.g.classList.toggle(\"hw-m\", hit);",
	"    if (hit && i >= past) { sum += f.w; past = f.end; }",
	"  });",
	"  hits.textContent = q === \"\" ? \"\"",
	"      : \"matched: \" + (100 * sum / all).toFixed(2) + \" %\";",
	"}",
	"function ask() {",
	"  if (box) return;",
	"  var xhtml = \"http://www.w3.org/1999/xhtml\";",
	"  box = document.createElementNS(",
	"      \"http://www.w3.org/2000/svg\", \"foreignObject\");",
	"  box.setAttribute(\"x\", num(find, \"x\") - 190);",
	"  box.setAttribute(\"y\", 6);",
	"  box.setAttribute(\"width\", 190);",
	"  box.setAttribute(\"height\", 26);",
	"  var input = document.createElementNS(xhtml, \"input\");",
	"  input.setAttribute(\"placeholder\", \"part of a name\");",
	"  input.addEventListener(\"input\", function () {",
	"    search(input.value);",
	"  });",
	"  input.addEventListener(\"keydown\", function (e) {",
	"    e.stopPropagation();",
	"    if (e.key !== \"Escape\" && e.key !== \"Enter\") return;",
	"    if (e.key === \"Escape\") search(\"\");",
	"    box.remove();",
	"    box = null;",
	"  });",
	"  box.appendChild(input);",
	"  svg.appendChild(box);",
	"  input.focus();",
	"}",
	"function of(e) {",
	"  var g = e.target.closest && e.target.closest(\".hw-f\");",
	"  for (var i = 0; g && i < frames.length; i++)",
	"    if (frames[i].g === g) return i;",
	"  return -1;",
	"}",
	"svg.addEventListener(\"click\", function (e) {",
	"  var i = of(e);",
	"  if (e.target === reset) zoom(0);",
	"  else if (e.target === find) ask();",
	"  else if (i >= 0) zoom(i);",
	"});",
	"svg.addEventListener(\"mouseover\", function (e) {",
	"  var i = of(e);",
	"  details.textContent = i < 0 ? \"\" : frames[i].tip.join(\"  \");",
	"});",
	"document.addEventListener(\"keydown\", function (e) {",
	"  if (e.target.tagName === \"input\" || e.target.tagName === "
	"\"INPUT\")",
	"    return;",
	"  if (e.key === \"/\") { e.preventDefault(); ask(); }",
	"  else if (e.key === \"Escape\") { search(\"\"); zoom(0); }",
	"});",
	"find.setAttribute(\"visibility\", \"visible\");",
	"}());",
};

static void
put_lines(struct hwtdi_sink *sink, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		hwtdi_sink_text(sink, lines[i]);
		hwtdi_sink_char(sink, '\n');
	}
}

void
hwtdi_flame_style(struct hwtdi_sink *sink)
{
	hwtdi_sink_text(sink, "<style>\n");
	put_lines(sink, style, sizeof(style) / sizeof(style[0]));
	hwtdi_sink_text(sink, "</style>\n");
}

void
hwtdi_flame_script(struct hwtdi_sink *sink)
{
	hwtdi_sink_text(sink, "<script><![CDATA[\n");
	put_lines(sink, script, sizeof(script) / sizeof(script[0]));
	hwtdi_sink_text(sink, "]]></script>\n");
}
