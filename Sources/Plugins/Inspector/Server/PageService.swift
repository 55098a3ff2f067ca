import Errand
import ErrandEssentials
import ErrandRecording

/// Answers the page's requests. It never reads files.
struct PageService: Sendable {
    let store: ActivityStore
    let tools: ToolBox
    let secrets: PageSecrets

    func response(to request: PageRequest, port: UInt16) -> PageResponse {
        let gate = PageGuard(port: port, secrets: secrets)
        switch gate.judge(request) {
        case .refused(let status):
            return .plain(status, "Open the address that the program printed when its inspector started.\n")
        case .opening: return page(cookie: "\(gate.cookieName)=\(secrets.cookie); HttpOnly; SameSite=Strict; Path=/")
        case .known: return known(request)
        }
    }

    private func known(_ request: PageRequest) -> PageResponse {
        let isGet = request.method == "GET"
        guard isGet || request.method == "POST" else { return .plain(405) }
        switch (request.path, isGet) {
        case ("/", true): return page(cookie: nil)
        case ("/events", true):
            return PageResponse(status: 200, fields: [("Content-Type", "text/event-stream")], body: .events)
        case ("/activity", true): return details(request)
        case ("/archive", true): return archive(request)
        case ("/clear", false):
            store.clear()
            return .json(Array("{}".utf8))
        case ("/tools", false): return setTools(request)
        default: return .plain(404)
        }
    }

    private func page(cookie: String?) -> PageResponse {
        let nonce = PageSecrets.random()
        let policy = """
            default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src blob: data:; \
            connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """
        var fields = [("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy)]
        if let cookie { fields.append(("Set-Cookie", cookie)) }
        return PageResponse(status: 200, fields: fields, body: .bytes(Array(InspectorPage.html(nonce: nonce).utf8)))
    }

    private func details(_ request: PageRequest) -> PageResponse {
        guard let id = request.item("id").flatMap({ UInt64($0) }), let record = store.record(id) else {
            return .plain(404)
        }
        return .json(JSONText.details(of: store.masked(record)))
    }

    private func archive(_ request: PageRequest) -> PageResponse {
        var records = store.all
        if let id = request.item("id") {
            guard let id = UInt64(id), let record = store.record(id) else { return .plain(404) }
            records = [record]
        }
        let recording = Recording(
            exchanges: records.flatMap { MaskedActivity($0, store.redaction).recorded },
            droppedExchanges: request.item("id") == nil ? store.dropped : 0)
        guard let data = try? recording.harFile().encoded() else { return .plain(500) }
        var response = PageResponse.json([UInt8](data))
        response.fields.append(("Content-Disposition", "attachment; filename=\"errand.har\""))
        return response
    }

    private func setTools(_ request: PageRequest) -> PageResponse {
        guard let settings = try? JSONDecoder().decode(ToolSettings.self, from: Data(request.body)) else {
            return .plain(400)
        }
        tools.set(settings)
        return .json(Array("{}".utf8))
    }
}
