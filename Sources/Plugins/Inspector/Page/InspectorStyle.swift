enum InspectorStyle {
    static let css = """

        :root {
          color-scheme: light dark;
          --back: light-dark(#fbfbfa, #17181b); --raised: light-dark(#ffffff, #1e2024);
          --sunk: light-dark(#f1f1ee, #121316); --line: light-dark(#dfdfda, #34373d);
          --text: light-dark(#1c1d20, #e8e8e6); --soft: light-dark(#5e6168, #a3a7b0);
          --accent: light-dark(#1f5fd0, #82b1ff); --accent-back: light-dark(#e3edfd, #223450);
          --good: light-dark(#1c6b3a, #7fd39b); --moved: light-dark(#7a5600, #e3bf68);
          --bad: light-dark(#b3261e, #ff9d94); --bad-back: light-dark(#fdeceb, #3d2322);
          --blocked: light-dark(#9aa0a8, #767c86); --dns: light-dark(#3d8f83, #58b5a6);
          --connect: light-dark(#cf7a1b, #eda04b); --tls: light-dark(#8d55c4, #b98ae6);
          --send: light-dark(#2b7fc4, #63ace8); --wait: light-dark(#7f9d3a, #a3c458);
          --receive: light-dark(#2f62d8, #6d95f5);
          font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
          color: var(--text); background: var(--back);
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; }
        h1 { font-size: 14px; margin: 0; white-space: nowrap; }
        h1 span { font-weight: 400; color: var(--soft); }
        h2 { font-size: 14px; margin: 0; overflow-wrap: anywhere; flex: 1; max-height: 4.4em; overflow: hidden; }
        h3 { font-size: 12px; margin: 18px 0 6px; color: var(--soft); font-weight: 600; }
        h3.hop-title { color: var(--text); overflow-wrap: anywhere; border-top: 1px solid var(--line); padding-top: 12px; }
        header {
          display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 8px 12px;
          border-bottom: 1px solid var(--line); background: var(--raised);
        }
        .filters { display: flex; flex: 1; flex-wrap: wrap; gap: 6px; align-items: center; min-width: 0; }
        .actions { display: flex; gap: 6px; flex-wrap: wrap; }
        input, select, button, textarea {
          font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 6px;
          padding: 4px 8px; min-height: 28px; max-width: 100%;
        }
        input[type=search] { flex: 1 1 180px; min-width: 120px; max-width: 420px; }
        input[type=checkbox] { min-height: 0; accent-color: var(--accent); }
        select { max-width: 190px; }
        button { cursor: pointer; white-space: nowrap; }
        button:hover { border-color: var(--soft); }
        button[aria-pressed=true] { background: var(--accent-back); border-color: var(--accent); color: var(--accent); }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        .check { display: inline-flex; gap: 4px; align-items: center; white-space: nowrap; }
        .badge { font-size: 11px; padding: 1px 8px; border-radius: 9px; background: var(--sunk); color: var(--soft); }
        .badge.live { color: var(--good); }
        .badge.live::before { content: "● "; }
        .badge.lost { background: var(--bad-back); color: var(--bad); }
        .soft { color: var(--soft); }
        body.tools-on #tools-button, body.tools-on #tools-state { background: var(--bad-back); color: var(--bad); border-color: var(--bad); font-weight: 600; }
        body.tools-on header { box-shadow: inset 0 3px 0 var(--bad); }
        #tools {
          display: flex; flex-wrap: wrap; gap: 10px; padding: 10px 12px; border-bottom: 1px solid var(--line);
          background: var(--sunk); max-height: 55vh; overflow: auto;
        }
        fieldset { border: 1px solid var(--line); border-radius: 8px; display: flex; flex-wrap: wrap; gap: 8px; align-items: end; align-content: start; margin: 0; min-width: 0; padding: 6px 10px 10px; }
        legend { color: var(--soft); padding: 0 4px; }
        fieldset.wide { flex: 1 1 420px; }
        .field { display: flex; flex-direction: column; gap: 2px; font-size: 12px; color: var(--soft); }
        .field input, .field select, .field textarea { color: var(--text); }
        .field.wide { flex: 1 1 220px; }
        input[type=number] { width: 104px; }
        #rules { list-style: none; margin: 0; padding: 0; flex-basis: 100%; }
        .tool-actions { display: flex; gap: 8px; align-items: center; flex-basis: 100%; }
        #tools-state { padding: 2px 8px; border-radius: 6px; }
        main { flex: 1; display: flex; min-height: 0; }
        #list { flex: 1 1 60%; display: flex; flex-direction: column; min-width: 0; container-type: inline-size; }
        .columns, .row {
          display: grid; align-items: center; column-gap: 10px;
          grid-template-columns: minmax(180px, 1fr) 76px 92px 76px 64px minmax(120px, 30%);
        }
        .columns { padding: 5px 12px 5px 15px; font-size: 11px; color: var(--soft); border-bottom: 1px solid var(--line); background: var(--raised); }
        #scale { font-style: normal; float: right; }
        #scroller { flex: 1; overflow-y: scroll; overflow-x: hidden; position: relative; outline: none; min-height: 60px; border-left: 3px solid transparent; }
        #scroller:focus-visible { border-left-color: var(--accent); }
        #rows { position: relative; }
        .row { position: absolute; left: 0; right: 0; top: 0; height: 30px; padding: 0 12px; cursor: default; contain: strict; }
        .row.odd { background: color-mix(in srgb, var(--sunk) 45%, transparent); }
        .row:hover { background: var(--sunk); }
        .row.selected { background: var(--accent-back); }
        .row > span, .columns > span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
        .row .c-name { display: flex; gap: 6px; align-items: baseline; }
        .toggle { border: 0; background: none; padding: 0; min-height: 0; width: 14px; flex: none; color: var(--soft); }
        .toggle.leaf { visibility: hidden; }
        .method { font: 600 11px/1 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; flex: none; min-width: 38px; }
        .method.kind { color: var(--accent); font-family: inherit; }
        .title { flex: 0 1 auto; overflow: hidden; text-overflow: ellipsis; min-width: 5ch; }
        .host { color: var(--soft); font-size: 12px; flex: 0 60 auto; overflow: hidden; text-overflow: ellipsis; }
        .marks { color: var(--soft); font-size: 11px; flex: 0 40 auto; overflow: hidden; text-overflow: ellipsis; }
        .host:empty, .marks:empty { display: none; }
        .row.bad .marks { color: var(--bad); }
        .c-size, .c-time { text-align: right; font-variant-numeric: tabular-nums; }
        .row .c-status { font-weight: 600; font-variant-numeric: tabular-nums; }
        .good .c-status { color: var(--good); } .moved .c-status { color: var(--moved); }
        .bad .c-status { color: var(--bad); } .cancelled .c-status { color: var(--soft); }
        .row.running .c-status { color: var(--accent); }
        .c-wire { color: var(--soft); }
        .c-wire.stored { color: var(--good); font-weight: 600; }
        .row .c-waterfall { position: relative; height: 16px; }
        .c-waterfall i:not(#scale), .track i { position: absolute; top: 4px; bottom: 4px; border-radius: 2px; }
        .row > .progress { position: absolute; left: 0; bottom: 0; height: 3px; background: var(--accent); opacity: 0.8; }
        .row.bad > .progress, .row.cancelled > .progress { background: var(--bad); }
        .transfer { margin: 8px 0; } .transfer span { font-variant-numeric: tabular-nums; }
        .transfer progress { display: block; width: 100%; height: 10px; margin-top: 3px; accent-color: var(--accent); }
        i.whole { background: light-dark(#d4d6da, #4a4e56); top: 7px !important; bottom: 7px !important; }
        i.whole.bad { background: color-mix(in srgb, var(--bad) 55%, transparent); }
        i.blocked { background: var(--blocked); } i.dns { background: var(--dns); } i.connect { background: var(--connect); }
        i.tls { background: var(--tls); } i.send { background: var(--send); } i.wait { background: var(--wait); }
        i.receive { background: var(--receive); } i.open { opacity: 0.55; }
        #empty { color: var(--soft); text-align: center; margin: 15vh 20px; position: absolute; left: 0; right: 0; top: 0; }
        #footer { padding: 4px 12px; font-size: 12px; color: var(--soft); border-top: 1px solid var(--line); background: var(--raised); }
        #detail { flex: 1 1 40%; min-width: 340px; max-width: 720px; display: flex; flex-direction: column; border-left: 1px solid var(--line); background: var(--raised); outline: none; }
        .detail-head { display: flex; gap: 8px; align-items: start; padding: 10px 12px 4px; }
        .close { border: 0; background: none; font-size: 18px; line-height: 1; padding: 2px 6px; }
        .copies { display: flex; gap: 6px; flex-wrap: wrap; padding: 4px 12px 8px; }
        .tabs { display: flex; gap: 2px; border-bottom: 1px solid var(--line); padding: 0 8px; overflow-x: auto; flex: none; }
        .tabs button { border: 0; background: none; border-radius: 6px 6px 0 0; border-bottom: 2px solid transparent; color: var(--soft); padding: 4px 10px; }
        .tabs button[aria-selected=true] { color: var(--text); border-bottom-color: var(--accent); font-weight: 600; }
        .panel { flex: 1; overflow: auto; padding: 8px 12px 24px; }
        .panel > h3:first-child { margin-top: 6px; }
        .gone { padding: 12px; color: var(--soft); }
        .facts { display: grid; grid-template-columns: max-content 1fr; gap: 3px 14px; margin: 6px 0; }
        dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
        .failure { background: var(--bad-back); border-left: 3px solid var(--bad); border-radius: 4px; padding: 8px 12px; margin: 6px 0 10px; overflow-wrap: anywhere; }
        .failure b { color: var(--bad); } .failure p { margin: 4px 0 0; white-space: pre-wrap; }
        .hop { margin-bottom: 14px; } .hop-name { overflow-wrap: anywhere; } .hop-facts { color: var(--soft); font-size: 12px; overflow-wrap: anywhere; }
        .track { position: relative; height: 18px; background: var(--sunk); border-radius: 4px; margin: 4px 0; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 12px; margin: 0; padding: 0; font-size: 12px; color: var(--soft); }
        .legend i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 4px; }
        table.headers { border-collapse: collapse; width: 100%; table-layout: fixed; }
        table.headers th { text-align: left; font-weight: 500; color: var(--soft); width: 36%; }
        table.headers td, table.headers th { vertical-align: top; padding: 3px 8px 3px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        pre { font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--sunk); border-radius: 6px; padding: 8px 10px; margin: 4px 0; max-width: 100%; }
        pre.hex { white-space: pre; overflow-x: auto; } pre.copy { margin: 0 12px 8px; max-height: 30vh; overflow: auto; flex: none; }
        .body-head { display: flex; gap: 8px; justify-content: space-between; align-items: center; flex-wrap: wrap; margin-bottom: 4px; }
        .views { display: inline-flex; gap: 4px; } .views button { padding: 1px 8px; min-height: 24px; font-size: 12px; }
        .body-image { max-width: 100%; border: 1px solid var(--line); border-radius: 6px; background: repeating-conic-gradient(#8884 0 25%, transparent 0 50%) 0 0 / 16px 16px; }
        details.json, .j-leaf { font: 12px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; padding-left: 18px; overflow-wrap: anywhere; }
        .json > summary { cursor: pointer; list-style-position: outside; }
        .j-name { color: var(--accent); } .j-string { color: var(--good); } .j-number { color: var(--moved); } .j-boolean, .j-null { color: var(--tls); }
        .notes, .messages { list-style: none; margin: 6px 0; padding: 0; }
        .notes li { display: grid; grid-template-columns: 70px 90px 1fr; gap: 8px; padding: 3px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .messages li { border-left: 3px solid var(--receive); padding-left: 8px; margin-bottom: 8px; } .messages li.sent { border-color: var(--connect); }
        .links { margin: 0; padding-left: 18px; }
        .link { border: 0; background: none; padding: 0; color: var(--accent); text-align: left; white-space: normal; overflow-wrap: anywhere; min-height: 0; }
        .link:hover { text-decoration: underline; }
        @container (max-width: 900px) {
          .columns, .row { grid-template-columns: minmax(140px, 1fr) 62px 66px 66px 46px minmax(80px, 22%); column-gap: 8px; }
          .host { display: none; }
        }
        @container (max-width: 680px) {
          .columns, .row { grid-template-columns: minmax(140px, 1fr) 62px 66px 66px minmax(80px, 22%); }
          .c-wire { display: none; }
        }
        @container (max-width: 520px) {
          .columns, .row { grid-template-columns: minmax(100px, 1fr) 62px 62px; column-gap: 6px; }
          .c-size, .c-waterfall { display: none; }
        }
        @media (max-width: 800px) {
          body.split #list { display: none; }
          #detail { border-left: 0; max-width: none; min-width: 0; flex-basis: 100%; }
          select { max-width: 130px; }
        }
        @media (max-width: 1080px) {
          header { gap: 6px 8px; } .filters { flex-basis: 100%; order: 3; } .actions { margin-left: auto; }
        }
        @media (prefers-reduced-motion: no-preference) { .row.running .c-status { animation: pulse 1.6s infinite; } }
        @keyframes pulse { 50% { opacity: 0.5; } }
        @media (forced-colors: active) { .c-waterfall i, .track i, .legend i { forced-color-adjust: none; } }
        """
}
