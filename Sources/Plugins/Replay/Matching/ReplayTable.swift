import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

struct ReplayTable: Sendable {
    /// The maximum size of a body in bytes.
    static let bodyLimit = 64 << 20

    let index: HARIndex
    private let matching: ReplayMatching
    private let redaction: Redaction
    private var exact: [String: [Int]] = [:]
    /// The items whose query may be a form. The key is ``ReplayURL/formText``.
    private var forms: [String: [Int]] = [:]
    private var masked: [String: [Int]] = [:]

    init(_ index: HARIndex, matching: ReplayMatching, redaction: Redaction) throws(HARError) {
        (self.index, self.matching, self.redaction) = (index, matching, redaction)
        for (position, item) in index.items.enumerated() {
            let url = ReplayURL(item.url, matching)
            let (headers, body) = try compared(item)
            let isMasked = url.hasMask || body?.hasMask == true || headers.contains(where: MaskedText.hasMask)
            if isMasked {
                masked[item.method, default: []].append(position)
            } else {
                let key = Self.key(method: item.method, url: url.text, headers: headers, body: body)
                exact[key, default: []].append(position)
                if let text = url.formText {
                    let form = Self.key(method: item.method, url: text, headers: headers, body: body)
                    forms[form, default: []].append(position)
                }
            }
        }
    }

    private static func key(method: String, url: String, headers: [String], body: ReplayBody?) -> String {
        "\(method) \(url)\(headers.map { "\n\($0.debugDescription)" }.joined())\n\(body?.key ?? "")"
    }

    private func compared(_ item: HARIndex.Item) throws(HARError) -> (headers: [String], body: ReplayBody?) {
        guard matching.body || !matching.headers.isEmpty else { return ([], nil) }
        let entry = try index.entry(item)
        let headers = compared(entry.requestHeaders, contentType: entry.requestBody.mimeType)
        guard matching.body else { return (headers, nil) }
        let recorded = entry.requestBody
        var bytes: [UInt8] = []
        // Some programs write an empty text in addition to the form's items. The items are used then.
        if let text = recorded.text, !text.isEmpty || recorded.parts.isEmpty {
            let path = "log.entries[\(item.number)].request.postData.text"
            guard text.count <= Self.bodyLimit else {
                throw HARError(
                    .tooLarge, "a body of more than \(Self.bodyLimit) bytes", path: path, byte: text.lowerBound)
            }
            var body = HARBody(index.source, text, isBase64: recorded.isBase64, path: path)
            bytes = try body.all()
        } else {
            let type = entry.requestHeaders[.contentType] ?? recorded.mimeType
            if type.flatMap({ MediaType.essence(of: $0) })?.hasPrefix("multipart/") == true {
                return (headers, ReplayBody(parts: recorded.parts))
            }
            let items = recorded.parts.map { QueryItem(encodedName: $0.name[...], encodedValue: $0.value[...]) }
            bytes = Array(items.map(\.description).joined(separator: "&").utf8)
        }
        return (
            headers,
            ReplayBody(
                bytes, contentType: entry.requestHeaders[.contentType] ?? recorded.mimeType,
                contentCoding: entry.requestHeaders[.contentEncoding])
        )
    }

    private func compared(_ headers: HTTPHeaders, contentType: String?) -> [String] {
        matching.headers.map { name in
            let value = headers[name] ?? (name == .contentType ? contentType : nil) ?? "none"
            // The boundary of a multipart body is ignored, because it's different in each body.
            guard name == .contentType, var type = MediaType(parsing: value), type.type == "multipart" else {
                return value
            }
            type.parameters.all.removeAll { $0.name == "boundary" }
            return type.description
        }
    }

    /// Finds the items that match a request. The items in `exact` have the same key. The items in `others` match in
    /// another way, for example because of masks.
    func find(_ request: HTTPRequest, _ body: ReplayBody?) throws(HARError) -> (
        key: String, exact: [Int], others: [Int]
    ) {
        let url = ReplayURL(request.urlText, matching)
        let headers = compared(request.headers, contentType: request.body.contentType)
        let body = matching.body ? body : nil
        let key = Self.key(method: request.method.rawValue, url: url.text, headers: headers, body: body)
        let exact = exact[key] ?? []
        var found: [Int] = []
        // If both spellings of a form were recorded, each spelling matches only itself.
        if exact.isEmpty, let text = url.formText {
            found += forms[Self.key(method: request.method.rawValue, url: text, headers: headers, body: body)] ?? []
        }
        for position in masked[request.method.rawValue] ?? [] {
            let item = index.items[position]
            guard ReplayURL(item.url, matching).matches(url) else { continue }
            let recorded = try compared(item)
            guard zip(recorded.headers, headers).allSatisfy({ MaskedText.matches($0, $1) }) else { continue }
            if let mine = recorded.body, let body, mine.difference(from: body) != nil { continue }
            found.append(position)
        }
        return (key, exact, found)
    }

    // MARK: Nearest entry

    func unmatched(_ request: HTTPRequest, _ body: ReplayBody?) -> ReplayError {
        let url = ReplayURL(request.urlText, matching)
        var (nearest, least) = (0, Int.max)
        for (position, item) in index.items.enumerated() {
            let other = ReplayURL(item.url, matching)
            let distance = Self.distance(other, url) + (item.method == request.method.rawValue ? 0 : 6)
            if distance < least { (nearest, least) = (position, distance) }
        }
        guard least < .max else { return ReplayError(.unmatched, request, redaction: redaction) }
        let item = index.items[nearest]
        return ReplayError(
            .unmatched, request, nearest: ReplayEntry(item, redaction),
            differences: differences(item, from: request, body: body),
            redaction: redaction)
    }

    private static func distance(_ recorded: ReplayURL, _ requested: ReplayURL) -> Int {
        let (a, b) = (recorded.path.split(separator: "/"), requested.path.split(separator: "/"))
        let segments = zip(a, b).count { !MaskedText.matches(String($0), String($1)) } + abs(a.count - b.count)
        let items = Set(recorded.items).symmetricDifference(requested.items).count
        return (recorded.origin == requested.origin ? 0 : 8) + 4 * segments + min(items, 3)
    }

    private func differences(_ item: HARIndex.Item, from request: HTTPRequest, body: ReplayBody?) -> [String] {
        let recorded = ReplayURL(item.url, matching)
        let requested = ReplayURL(request.urlText, matching)
        var found: [String] = []
        func add(_ what: String, mine: String?, its: String?) {
            func shown(_ text: String?) -> String { text.map { String($0.prefix(200)) } ?? "none" }
            found.append("\(what): recorded \(shown(mine)), requested \(shown(its))")
        }
        if item.method != request.method.rawValue { add("method", mine: item.method, its: request.method.rawValue) }
        if !MaskedText.matches(recorded.origin, requested.origin) {
            add("origin", mine: recorded.origin, its: requested.origin)
        }
        if !MaskedText.matches(recorded.path, requested.path) { add("path", mine: recorded.path, its: requested.path) }
        found += queryDifferences(recorded.items, requested.items)
        guard let (headers, mine) = try? compared(item) else { return found }
        for (name, pair) in zip(
            matching.headers, zip(headers, compared(request.headers, contentType: request.body.contentType)))
        where !MaskedText.matches(pair.0, pair.1) {
            let isShown = !redaction.isSecret(HTTPHeaders.Field(name, ""))
            add("header \(name)", mine: isShown ? pair.0 : Redaction.mask, its: isShown ? pair.1 : Redaction.mask)
        }
        if let mine, let body, let difference = mine.difference(from: body) { found.append("body: \(difference)") }
        return found
    }

    private func queryDifferences(_ recorded: [String], _ requested: [String]) -> [String] {
        func group(_ items: [String]) -> [String: [String]] {
            Dictionary(grouping: items) { String($0.prefix { $0 != "=" }) }
                .mapValues { $0.map { String($0.drop { $0 != "=" }.dropFirst()) } }
        }
        let (mine, its) = (group(recorded), group(requested))
        var found: [String] = []
        for name in Set(mine.keys).union(its.keys).sorted() {
            let (a, b) = (mine[name] ?? [], its[name] ?? [])
            if a.count == b.count, zip(a, b).allSatisfy({ MaskedText.matches($0, $1) }) { continue }
            func shown(_ values: [String]) -> String {
                if values.isEmpty { return "none" }
                return redaction.isSecret(name) ? Redaction.mask : String(values.joined(separator: ", ").prefix(200))
            }
            found.append("query \(name.prefix(100)): recorded \(shown(a)), requested \(shown(b))")
        }
        if found.isEmpty, recorded != requested, Set(recorded) == Set(requested) {
            found.append("query: the items are in a different order")
        }
        return Array(found.prefix(20))
    }
}
