/// The style of the page. Each phase has its own pattern in addition to its color.
enum WaterfallStyle {
    static let css = """
        :root{--page:#fff;--text:#1a1c20;--soft:#4f545c;--line:#d5d8dd;--track:#f1f3f5}
        @media (prefers-color-scheme:dark){:root{--page:#16181d;--text:#eceef1;--soft:#b3b8c2;--line:#363b45;--track:#20242b}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem 1rem;max-width:90rem;background:var(--page);color:var(--text);
        font:15px/1.45 system-ui,sans-serif}
        h1{font-size:1.3rem;margin:0 0 .25rem;overflow-wrap:anywhere}
        p{margin:0 0 .75rem;color:var(--soft)}
        ul,ol{list-style:none;margin:0;padding:0}
        .legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin-bottom:1rem;color:var(--soft)}
        .legend i{display:inline-block;width:1.6rem;height:.8rem;margin-right:.4rem;vertical-align:-.05rem;
        border:1px solid var(--soft)}
        li[style]{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:.25rem 1rem;align-items:start;
        border-top:1px solid var(--line);padding:.4rem 0}
        .name{padding-left:calc(var(--depth)*1.1rem);min-width:0;overflow-wrap:anywhere}
        .name span,.wire{color:var(--soft);font-size:.87em}
        .wire{font-family:ui-monospace,monospace;font-size:.8em}
        .track{position:relative;height:1.5rem;background:var(--track);overflow:hidden}
        .track i{position:absolute;top:.3rem;height:.9rem}
        .track .whole{top:.1rem;height:1.3rem;border:1px solid var(--soft);border-radius:2px}
        .blocked{background:#8a8f98}
        .dns{background:repeating-linear-gradient(90deg,#1f7a8c 0 3px,#9fd3de 3px 6px)}
        .connect{background:repeating-linear-gradient(45deg,#b3541e 0 4px,#f0b48c 4px 8px)}
        .tls{background:repeating-linear-gradient(-45deg,#7a3fa0 0 4px,#d3b2e6 4px 8px)}
        .send{background:repeating-linear-gradient(135deg,#8a6d1f 0 2px,#e3cf94 2px 6px)}
        .wait{background:repeating-linear-gradient(0deg,#2d7d46 0 2px,#a9dcb8 2px 5px)}
        .receive{background:#2b62c4}
        @media (max-width:40rem){li[style]{grid-template-columns:minmax(0,1fr)}.name{padding-left:calc(var(--depth)*.6rem)}}
        @media print{body{max-width:none}}
        """
}
