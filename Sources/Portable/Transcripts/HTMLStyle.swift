/// How an exported page looks, and what it may do: show itself and the pictures beside it.
enum HTMLStyle {
  static let policy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: file: 'self'; base-uri 'none'; form-action 'none'"

  static let sheet = """
    :root{color-scheme:light dark;--back:#fff;--text:#1c1e21;--dim:#65686d;--line:#e3e5e8;--soft:#f3f4f6;--light:38%}
    @media (prefers-color-scheme:dark){:root{--back:#17181b;--text:#e7e8ea;--dim:#9a9da3;--line:#303237;--soft:#222429;--light:72%}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:46rem;padding:1rem;background:var(--back);color:var(--text);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
    header{border-bottom:1px solid var(--line)}
    h1{font-size:1.6rem;margin:.5rem 0}
    .about,time,small,.state,.gone{color:var(--dim)}
    .about,time,small{font-size:.8rem;font-weight:400}
    h2{font-size:.85rem;text-align:center;color:var(--dim);margin:1.5rem 0 .5rem}
    h3{font-size:1rem;margin:0;color:hsl(var(--hue) 60% var(--light))}
    article{padding:.1rem .5rem;border-radius:.4rem}
    article.first{margin-top:.75rem}
    article:target{background:var(--soft)}
    p{margin:.1rem 0;white-space:pre-wrap}
    .state{text-align:center;font-size:.85rem;margin:.4rem 0}
    .gone{font-style:italic}
    .notice{opacity:.8}
    blockquote{margin:.2rem 0;padding:.1rem .6rem;border-left:3px solid var(--line);color:var(--dim);font-size:.9rem}
    a{color:inherit}
    img{display:block;max-width:100%;max-height:28rem;border-radius:.4rem}
    .reactions span{display:inline-block;background:var(--soft);border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;margin:.1rem .25rem 0 0;font-size:.85rem}
    """
}
