import Errand
import ErrandConformance
import Foundation
import Synchronization

/// Serves resources from memory. It's correct except for one mistake.
final class ShelfTransport: Transport {
    enum Mistake: CaseIterable {
        // Addresses
        case foldsCase, decodesSlashes, decodesTwice, takesPlusForSpace, addsExtensions, findsByPattern
        case decodesBeforeQuery, composesText, ignoresQuery, sortsQuery, decodesQuery, ignoresHosts
        // Messages
        case ignoresMethods, readsBodyTwice, comparesNamesExactly, endsPartsEarly, returnsPartForWhole, servesMissing
        case throwsForeignErrors, savesFilesItself, reportsTwice, labelsAllAsText
        // Several requests
        case remembersCancellations, sharesReader, waitsForDate, countsAgeByDate, keepsLastHeaders
        case ignoresCancellations
    }

    private struct State {
        var isCancelled = false
        var position = 0
        var lastRange: String?
        var lastDate: Date?
    }

    private let resources: [LocalResource]
    private let mistake: Mistake?
    private let state = Mutex(State())

    init(_ resources: [LocalResource], _ mistake: Mistake? = nil) {
        (self.resources, self.mistake) = (resources, mistake)
    }

    // MARK: Addresses

    private func name(_ text: String) -> [UInt8] {
        let text = text.prefix { $0 != "#" }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var (path, query) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
        switch mistake {
        case .foldsCase: path = path.lowercased()
        case .decodesSlashes: path = path.replacing("%2F", with: "/")
        case .decodesTwice:
            path = path.removingPercentEncoding ?? path
            path = path.removingPercentEncoding ?? path
            path = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
        case .takesPlusForSpace: path = path.replacing("+", with: "%20")
        case .decodesBeforeQuery:
            return Array(text.replacing("%3F", with: "?").replacing("%23", with: "#").prefix { $0 != "#" }.utf8)
        case .composesText:
            path = (path.removingPercentEncoding ?? path).precomposedStringWithCanonicalMapping
        case .ignoresQuery: query = nil
        case .sortsQuery: query = query?.split(separator: "&").sorted().joined(separator: "&")
        case .decodesQuery: query = query.map { $0.replacing("%26", with: "&") }
        case .ignoresHosts: path = "/" + path.split(separator: "/").dropFirst(2).joined(separator: "/")
        default: break
        }
        return Array(path.utf8) + (query.map { Array("?\($0)".utf8) } ?? [])
    }

    private func resource(at url: URL) -> LocalResource? {
        let wanted = name(url.absoluteString)
        if let found = resources.last(where: { name($0.url) == wanted }) { return found }
        switch mistake {
        case .addsExtensions: return resources.first { name($0.url) == wanted + Array(".txt".utf8) }
        case .findsByPattern:
            let pattern = String(decoding: wanted, as: UTF8.self)
            guard let star = pattern.firstIndex(of: "*") else { return nil }
            return resources.first { $0.url.hasPrefix(pattern[..<star]) }
        case .servesMissing: return LocalResource.anyPage(resources)
        default: return nil
        }
    }

    // MARK: Messages

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        if mistake == .remembersCancellations {
            if Task.isCancelled { state.withLock { $0.isCancelled = true } }
            if state.withLock({ $0.isCancelled }) { throw CancellationError() }
        }
        try Task.checkCancellation()
        try await waitForDate(options)
        try await readBody(of: request)
        guard let resource = resource(at: request.url) else {
            if mistake == .throwsForeignErrors { throw CocoaError(.fileNoSuchFile) }
            return HTTPResponse(to: request, status: 404)
        }
        if request.method != .get, request.method != .head, mistake != .ignoresMethods {
            return HTTPResponse(to: request, status: 405, headers: [.allow: "GET, HEAD"])
        }
        return response(to: request, resource, options)
    }

    private func readBody(of request: HTTPRequest) async throws {
        if request.body.length == 0 { return }
        if mistake == .readsBodyTwice, let length = request.body.length, length > 0 {
            _ = try await request.body.open().collect(upTo: 1 << 20)
        }
        if mistake == .ignoresCancellations {
            let task = Task { try await request.body.open().collect(upTo: 1 << 20) }
            _ = try await task.value
            return
        }
        _ = try await request.body.open().collect(upTo: 1 << 20)
    }

    private func waitForDate(_ options: TransportOptions) async throws {
        guard mistake == .waitsForDate else { return }
        let date = options.time.date
        let last = state.withLock { state in
            defer { state.lastDate = date }
            return state.lastDate
        }
        let wait = last.map { $0.addingTimeInterval(1).timeIntervalSince(date) } ?? 0
        if wait > 0 { try await options.time.sleep(until: options.time.instant(after: .seconds(wait))) }
    }

    private func response(
        to request: HTTPRequest, _ resource: LocalResource, _ options: TransportOptions
    ) -> HTTPResponse {
        var (status, body) = (200, resource.body)
        var headers: HTTPHeaders = [
            .contentType: mistake == .labelsAllAsText ? "text/plain" : resource.contentType, .acceptRanges: "bytes",
        ]
        var range = request.headers[.range]
        if mistake == .comparesNamesExactly {
            range = request.headers.first { $0.name.rawName == HTTPHeaderName.range.rawName }?.value
        }
        if mistake == .keepsLastHeaders {
            range = state.withLock { state in
                defer { state.lastRange = range }
                return range ?? state.lastRange
            }
        }
        if let range = range.flatMap({ Self.range($0, of: body.count) }), request.method == .get {
            let last = mistake == .endsPartsEarly ? max(range.lowerBound, range.upperBound - 1) : range.upperBound
            headers[.contentRange] = "bytes \(range.lowerBound)-\(last)/\(body.count)"
            status = mistake == .returnsPartForWhole ? 200 : 206
            body = Data(body[range])
        }
        headers[.contentLength] = "\(body.count)"
        if mistake == .countsAgeByDate {
            let date = options.time.date
            let first = state.withLock { state in
                state.lastDate = state.lastDate ?? date
                return state.lastDate ?? date
            }
            headers[.age] = "\(Int(date.timeIntervalSince(first)))"
        }
        if request.method == .head { return HTTPResponse(to: request, status: status, headers: headers) }
        if mistake == .reportsTwice {
            options.report(.progress(TransferProgress(received: Int64(2 * body.count))))
        }
        if case .file(let file) = options.delivery, mistake == .savesFilesItself {
            try? body.write(to: file)
            return HTTPResponse(to: request, status: status, headers: headers)
        }
        return HTTPResponse(to: request, status: status, headers: headers, body: stream(body))
    }

    /// A closed range of bytes, for "first-last", "first-" and "-count".
    private static func range(_ text: String, of count: Int) -> ClosedRange<Int>? {
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard text.hasPrefix("bytes="), ends.count == 2 else { return nil }
        let first = ends[0] ?? max(0, count - (ends[1] ?? 0))
        let last = ends[0] == nil ? count - 1 : min(ends[1] ?? count - 1, count - 1)
        return first <= last ? first...last : nil
    }

    private func stream(_ body: Data) -> HTTPBody {
        let position = Mutex(0)
        if mistake == .sharesReader { state.withLock { $0.position = 0 } }
        return HTTPBody(length: Int64(body.count)) { [self] in
            let start: Int
            if mistake == .sharesReader {
                start = state.withLock { state in
                    defer { state.position += 60_000 }
                    return state.position
                }
            } else {
                start = position.withLock { position in
                    defer { position += 60_000 }
                    return position
                }
            }
            await Task.yield()
            return start < body.count ? Data(body.dropFirst(start).prefix(60_000)) : nil
        }
    }
}

extension LocalResource {
    fileprivate static func anyPage(_ resources: [LocalResource]) -> LocalResource? { resources.first }
}

/// A right transport with an unusual design: it delays each response on the agent's clock, ignores ranges, answers
/// other methods with errors, sends a body byte by byte, and passes requests to a task of its own.
struct SlowShelf: Transport {
    private let bodies: [Data: Data]
    private let types: [Data: String]

    init(_ resources: [LocalResource]) {
        bodies = Dictionary(resources.map { (Data($0.url.utf8), $0.body) }) { _, last in last }
        types = Dictionary(resources.map { (Data($0.url.utf8), $0.contentType) }) { _, last in last }
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let task = Task {
            let pause = options.time is SystemTimeSource ? Duration.zero : .milliseconds(20)
            try await options.time.sleep(until: options.time.instant(after: pause))
            return try await respond(request)
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func respond(_ request: HTTPRequest) async throws -> HTTPResponse {
        let key = Data(request.url.absoluteString.utf8)
        guard let body = bodies[key], let type = types[key] else {
            throw ErrandError(.cannotConnect, "no such resource")
        }
        guard request.method == .get || request.method == .head else {
            throw ErrandError(.invalidRequest, "this resource can't be changed")
        }
        let headers: HTTPHeaders = [.contentType: "\(type); charset=utf-8", .date: "Mon, 01 Jan 2001 00:00:00 GMT"]
        if request.method == .head { return HTTPResponse(to: request, status: 200, headers: headers) }
        let position = Mutex(0)
        return HTTPResponse(
            to: request, status: 200, headers: headers,
            body: HTTPBody {
                let start = position.withLock { position in
                    defer { position += body.count > 1_000 ? 100_000 : 1 }
                    return position
                }
                return start < body.count ? Data(body.dropFirst(start).prefix(body.count > 1_000 ? 100_000 : 1)) : nil
            })
    }
}
