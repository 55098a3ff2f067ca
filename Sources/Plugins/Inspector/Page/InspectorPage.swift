/// The inspector's page. It's written without a build step or a library.
enum InspectorPage {
    /// - Parameter nonce: A random text with which the browser permits only this page's style and script.
    static func html(nonce: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <title>Errand inspector</title>
        <style nonce="\(nonce)">\(InspectorStyle.css)</style>
        </head>
        <body>
        \(body)
        <script nonce="\(nonce)">
        "use strict";
        (() => {
        \(InspectorScript.values)
        \(InspectorScript.model)
        \(InspectorScript.list)
        \(InspectorScript.details)
        \(InspectorScript.bodies)
        \(InspectorScript.tools)
        \(InspectorScript.start)
        })();
        </script>
        </body>
        </html>

        """
    }

    private static let body = """
        <header>
        <h1>Errand <span id="program"></span></h1>
        <span id="connection" role="status" class="badge">connecting</span>
        <div class="filters" role="search">
        <input id="text" type="search" placeholder="Filter by URL, label or error" aria-label="Filter by text">
        <select id="host" aria-label="Filter by host"><option value="">All hosts</option></select>
        <select id="status" aria-label="Filter by status">
        <option value="">All statuses</option><option value="2">2xx</option><option value="3">3xx</option>
        <option value="4">4xx</option><option value="5">5xx</option><option value="running">Running</option>
        </select>
        <select id="kind" aria-label="Filter by kind"><option value="">All kinds</option></select>
        <label class="check"><input id="failed" type="checkbox"> Failed</label>
        </div>
        <div class="actions">
        <button id="pause" type="button" aria-pressed="false">Pause</button>
        <button id="clear" type="button">Clear</button>
        <button id="archive" type="button">Save HAR</button>
        <button id="tools-button" type="button" aria-expanded="false" aria-controls="tools">Tools</button>
        </div>
        </header>
        <form id="tools" hidden aria-label="Tools for trying"></form>
        <main id="main">
        <section id="list" aria-label="Activities">
        <div class="columns" aria-hidden="true">
        <span class="c-name">Request</span><span class="c-status">Status</span><span class="c-size">Size</span>
        <span class="c-time">Time</span><span class="c-wire">Source</span>
        <span class="c-waterfall">Waterfall <i id="scale"></i></span>
        </div>
        <div id="scroller" tabindex="0" role="treegrid" aria-label="Activities" aria-describedby="footer" aria-colcount="6">
        <div id="rows"></div>
        <p id="empty">Waiting for requests. Send one, and it appears here.</p>
        </div>
        <div id="footer"></div>
        </section>
        <section id="detail" hidden aria-label="Details" tabindex="-1"></section>
        </main>
        """
}
