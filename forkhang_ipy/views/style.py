"""The style sheet of the static HTML: nothing in, one string out.

Surfaces and text take the notebook's theme variables (JupyterLab's, then VS Code's), and the system's colours where
there are none. The colours that carry meaning are a pair, orange against blue, light and dark; each also has a sign, a
word or a border that says the same. Every rule is scoped under one class.
"""

from __future__ import annotations

_LIGHT = "--fh-stuck:#b3400a;--fh-stuck-bg:#fff3ea;--fh-mark:#ffe9d6;--fh-ghost:#7a4fb5;--fh-ghost-bg:#f6f0fd;\
--fh-well:#2a7d4f;--fh-brand:#1769c2;--fh-dim:#5f6975;--fh-on:#fff;color-scheme:light"
_DARK = "--fh-stuck:#ffa463;--fh-stuck-bg:#35240f;--fh-mark:#46301a;--fh-ghost:#c6a4f5;--fh-ghost-bg:#291f3a;\
--fh-well:#6fcf97;--fh-brand:#6cb2ff;--fh-dim:#9aa7b6;--fh-on:#14181f;color-scheme:dark"

_RULES = f"""
.forkhang {{ {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ .forkhang {{ {_DARK} }} }}
body[data-jp-theme-light="true"] .forkhang, body.vscode-light .forkhang {{ {_LIGHT} }}
body[data-jp-theme-light="false"] .forkhang, body.vscode-dark .forkhang {{ {_DARK} }}
.forkhang {{
  --fh-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));
  --fh-ink: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));
  --fh-line: var(--jp-border-color2, var(--vscode-panel-border, color-mix(in srgb, CanvasText 18%, Canvas)));
  --fh-soft: var(--jp-layout-color2, var(--vscode-sideBar-background, color-mix(in srgb, CanvasText 4%, Canvas)));
  --fh-code: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, "DejaVu Sans Mono", monospace));
  border: 1px solid var(--fh-line); border-radius: 8px; overflow: hidden; background: var(--fh-bg);
  color: var(--fh-ink); font: 13px/1.45 var(--jp-ui-font-family, system-ui, "DejaVu Sans", sans-serif);
  text-align: left;
}}
.forkhang * {{ box-sizing: border-box; }}
.forkhang .quiet, .forkhang small, .forkhang .at {{ color: var(--fh-dim); }}
.forkhang small {{ font-size: 12px; }}
.forkhang .head {{ display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: flex-start; padding: 12px 14px; }}
.forkhang .says {{ flex: 1 1 24em; }}
.forkhang .says p {{ margin: 1px 0 3px; font-size: 14px; color: inherit; }}
.forkhang .sign {{ flex: none; width: 12px; text-align: center; }}
.forkhang .verdict {{ flex: none; font-weight: 600; padding: 2px 12px; border-radius: 999px;
  border: 1px solid currentColor; color: var(--fh-stuck); background: var(--fh-stuck-bg); }}
.forkhang .not-hung .verdict {{ color: var(--fh-well); background: none; }}
.forkhang .not-fork-deadlock .verdict, .forkhang .inconclusive .verdict {{ color: var(--fh-brand); background: none; }}
.forkhang .chain {{ display: flex; flex-wrap: wrap; align-items: stretch; gap: 8px; margin: 0; padding: 12px 14px;
  list-style: none; background: var(--fh-soft); border-top: 1px solid var(--fh-line); }}
.forkhang .chain li {{ display: flex; flex: 0 1 auto; align-items: center; gap: 8px; margin: 0; max-width: 25em; }}
.forkhang .box {{ padding: 6px 12px; border: 1px solid var(--fh-line); border-radius: 7px; background: var(--fh-bg); }}
.forkhang .box b {{ display: block; }}
.forkhang .root .box {{ border-color: var(--fh-stuck); background: var(--fh-stuck-bg); }}
.forkhang .gone .box {{ border: 1px dashed var(--fh-ghost); background: var(--fh-ghost-bg); }}
.forkhang .gone b {{ color: var(--fh-ghost); }}
.forkhang .arrow {{ color: var(--fh-dim); font-size: 16px; }}
.forkhang .crowd {{ padding: 4px 14px 10px; border-top: 1px solid var(--fh-line); }}
.forkhang .crowd h4 {{ margin-left: 0; }}
.forkhang .crowd ul {{ margin: 0 0 4px; padding: 0; list-style: none; }}
.forkhang .crowd li {{ margin: 0; overflow-wrap: anywhere; }}
.forkhang .crowd .stuck {{ color: var(--fh-stuck); font-weight: 600; }}
.forkhang .body {{ display: grid; grid-template-columns: 230px minmax(0, 1fr); border-top: 1px solid var(--fh-line); }}
.forkhang .list {{ padding: 8px 0; border-right: 1px solid var(--fh-line); }}
.forkhang h4 {{ margin: 6px 12px 2px; font-size: 11px; font-weight: 600; color: var(--fh-dim); }}
.forkhang .list ul {{ margin: 0; padding: 0; list-style: none; }}
.forkhang .list li {{ display: flex; gap: 6px; margin: 0; padding: 3px 12px 3px 9px;
  border-left: 3px solid transparent; }}
.forkhang .list .stuck {{ background: var(--fh-mark); border-color: var(--fh-stuck); }}
.forkhang .list .ghost {{ color: var(--fh-ghost); font-style: italic; }}
.forkhang .list small {{ display: block; }}
.forkhang .list b, .forkhang .mono, .forkhang td, .forkhang pre {{ font-family: var(--fh-code); font-size: 12px; }}
.forkhang .stacks {{ overflow-x: auto; }}
.forkhang table {{ border-collapse: collapse; width: 100%; margin: 0; font-size: 12px; table-layout: fixed; }}
.forkhang caption {{ caption-side: top; padding: 7px 12px 0; text-align: left; font-size: 11px; color: var(--fh-dim); }}
.forkhang th {{ padding: 6px 12px; text-align: left; font-size: 11px; font-weight: 600; color: var(--fh-dim); }}
.forkhang th:first-child {{ width: 44%; }} .forkhang th:only-child {{ width: auto; }}
.forkhang tbody tr, .forkhang thead tr {{ background: none; border: 0; }}
.forkhang td {{ padding: 2.5px 12px; text-align: left; vertical-align: top; white-space: normal;
  overflow-wrap: anywhere; border-top: 1px solid color-mix(in srgb, var(--fh-line) 45%, transparent); }}
.forkhang th + th, .forkhang td + td {{ border-left: 1px solid var(--fh-line); }}
.forkhang tr.hit td {{ background: var(--fh-mark); }}
.forkhang tr.hit td:first-child {{ box-shadow: inset 3px 0 0 var(--fh-stuck); }}
.forkhang td .own {{ font-weight: 700; }}
.forkhang .ref {{ display: inline-block; flex: none; min-width: 16px; margin-right: 5px; padding: 0 4px;
  text-align: center;
  border-radius: 8px; font: 700 10.5px/15px var(--fh-code); background: var(--fh-stuck); color: var(--fh-on); }}
.forkhang .tag {{ margin-left: 6px; padding: 0 4px; border: 1px solid currentColor; border-radius: 4px;
  white-space: nowrap;
  font-size: 10.5px; font-weight: 700; color: var(--fh-stuck); }}
.forkhang .tag.forked {{ color: var(--fh-brand); }}
.forkhang summary {{ cursor: pointer; }}
.forkhang td summary {{ color: var(--fh-dim); font-style: italic; list-style: none; }}
.forkhang td summary::after {{ content: " ▸"; }} .forkhang td details[open] summary::after {{ content: " ▾"; }}
.forkhang td summary::-webkit-details-marker {{ display: none; }}
.forkhang td details div {{ padding-left: 10px; }}
.forkhang summary:focus-visible {{ outline: 2px solid var(--fh-brand); outline-offset: 1px; }}
.forkhang .more {{ padding: 8px 12px; border-top: 1px solid var(--fh-line); }}
.forkhang .more details {{ margin: 2px 0; }}
.forkhang .foot {{ display: flex; flex-wrap: wrap; border-top: 1px solid var(--fh-line); }}
.forkhang .foot section {{ flex: 1 1 24em; padding: 10px 14px; min-width: 0; }}
.forkhang .foot section + section {{ border-left: 1px solid var(--fh-line); }}
.forkhang h3 {{ margin: 0 0 6px; font-size: 12px; font-weight: 700; color: inherit; }}
.forkhang .foot ol {{ margin: 0; padding: 0; list-style: none; }}
.forkhang .foot ol li {{ display: flex; align-items: flex-start; margin: 0 0 5px; }}
.forkhang .foot li .ref {{ margin-top: 2px; }}
.forkhang .foot li > div {{ flex: 1; min-width: 0; }}
.forkhang .foot .ref.step {{ background: var(--fh-brand); }}
.forkhang .foot p {{ margin: 4px 0; }}
.forkhang pre {{ margin: 6px 0; padding: 8px 10px; overflow-x: auto; color: inherit; background: var(--fh-soft);
  border: 1px solid var(--fh-line); border-radius: 6px; }}
.forkhang .gaps {{ padding: 8px 14px; border-top: 1px solid var(--fh-line); }}
.forkhang .gaps p {{ margin: 2px 0; }}
@media (max-width: 700px) {{
  .forkhang .body {{ grid-template-columns: 1fr; }}
  .forkhang .list {{ border-right: 0; border-bottom: 1px solid var(--fh-line); }}
}}
@media (forced-colors: active) {{ .forkhang tr.hit td:first-child {{ border-left: 4px solid Highlight; }} }}
"""

# Notebooks style tables and code in outputs by rules of up to two classes; ours must weigh more.
STYLE = _RULES.replace(".forkhang ", ".forkhang.forkhang.forkhang ")
