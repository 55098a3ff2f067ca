import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// A request to a local transport, and how its caller ends it.
struct LocalCall: Sendable, Hashable, CustomStringConvertible {
    enum Delivery: Sendable, Hashable, CaseIterable { case data, stream, file }
    enum Ending: Sendable, Hashable { case read, cancelledBefore, cancelledInBody, dropped }
    enum Upload: Sendable, Hashable, CaseIterable { case data, file, stream, oneShot }

    var method = HTTPMethod.get
    var url: String
    var headers: HTTPHeaders = [:]
    var upload: Upload?
    var delivery = Delivery.data
    var ending = Ending.read
    /// Whether the call sends `If-None-Match`, with the entity tag of a GET that precedes it.
    var isConditional = false

    static let uploaded = Data("an uploaded body, which a transport must read at most once".utf8)

    var description: String {
        var parts = ["\(method) \(url)"]
        parts += headers.map { "\($0.name.rawName): \($0.value)" }
        if let upload { parts.append("with a body as \(upload)") }
        if isConditional { parts.append("with the ETag of a GET as If-None-Match") }
        if delivery != .data { parts.append("delivered as \(delivery)") }
        switch ending {
        case .read: break
        case .cancelledBefore: parts.append("cancelled before it is sent")
        case .cancelledInBody: parts.append("cancelled after the first chunk")
        case .dropped: parts.append("dropped after the first chunk")
        }
        return parts.joined(separator: ", ")
    }
}

/// How a call ended.
enum LocalResult: Sendable, Equatable, CustomStringConvertible {
    case response(LocalBench.Received)
    /// The error's type and code.
    case failure(String)
    case cancelled
    case dropped

    var description: String {
        switch self {
        case .response(let received): "status \(received.status), \(received.body.count) bytes"
        case .failure(let text): text
        case .cancelled: "a cancellation"
        case .dropped: "a dropped body"
        }
    }

    /// Whether the results are the same. They may come from different transports for the same resources.
    func isSame(as other: LocalResult) -> Bool {
        guard case .response(let left) = self, case .response(let right) = other else { return self == other }
        return left.isSame(as: right)
    }

    func difference(from other: LocalResult) -> String {
        guard case .response(let left) = self, case .response(let right) = other, left.status == right.status,
            left.body == right.body
        else { return "\(self)" }
        return "the fields \(left.headers.map { "\($0.name.rawName): \($0.value)" }.sorted())"
    }
}

extension LocalBench.Received {
    /// Fields that depend on the time of the response.
    private static let volatile: Set<HTTPHeaderName> = [.date, .age, .expires]
    /// Fields that identify a version. Two transports can store the same resource at different times.
    private static let versions: Set<HTTPHeaderName> = [.entityTag, .lastModified]
    /// Fields about the body, for which HTTP defines a meaning. The value of another field, such as the number of a
    /// request, may differ in each response.
    private static let aboutBody: Set<HTTPHeaderName> = [
        .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentRange, .contentDisposition,
        .acceptRanges, .location, .vary, .allow,
    ]

    /// Whether two responses have the same status, body and fields. In responses of one transport, the fields that
    /// identify the version must be the same as well.
    func isSame(as other: Self, ofOneTransport isOne: Bool = false) -> Bool {
        if status != other.status || body != other.body { return false }
        let names = [self, other].map { Set($0.headers.map(\.name)).subtracting(Self.volatile) }
        if names[0] != names[1] { return false }
        return names[0].allSatisfy { name in
            let isCompared = Self.aboutBody.contains(name) || isOne && Self.versions.contains(name)
            return !isCompared || headers.values(of: name) == other.headers.values(of: name)
        }
    }
}

extension LocalBench {
    /// The longest time for a request that nobody delays.
    static let patience = Duration.seconds(60)

    /// Plays a call. Throws a failure if the call hangs, or if its error isn't typed.
    func play(
        _ call: LocalCall, on transport: any Transport, time: any TimeSource = SystemTimeSource()
    ) async throws -> LocalResult {
        var call = call
        if call.isConditional {
            call.isConditional = false
            let plain = try await play(LocalCall(url: call.url), on: transport, time: time)
            if case .response(let received) = plain { call.headers[.ifNoneMatch] = received.headers[.entityTag] }
        }
        return try await played(call, on: transport, time)
    }

    private func played(
        _ call: LocalCall, on transport: any Transport, _ time: any TimeSource
    ) async throws -> LocalResult {
        guard let target = URL(string: call.url) else { throw ConformanceFailure(expected: "a URL", came: call.url) }
        let files = LocalFiles()
        defer { files.remove() }
        let body = try Self.body(of: call, files)
        let delivery: BodyDelivery =
            switch call.delivery {
            case .data: .data
            case .stream: .stream
            case .file: .file(files.destination)
            }
        let request = HTTPRequest(call.method, target, headers: call.headers, body: body)
        let options = TransportOptions(delivery: delivery, time: time)
        let isReading = Gate()
        let end = Watched<LocalResult?>(nil)
        let failed = Watched<(any Error)?>(nil)
        let task = Task {
            do {
                if call.ending == .cancelledBefore { while !Task.isCancelled { await Task.yield() } }
                let result = try await Self.read(transport.send(request, options: options), call.ending, isReading)
                end.update { $0 = result }
            } catch {
                do {
                    let result = try Self.result(of: error)
                    end.update { $0 = result }
                } catch { failed.update { $0 = error } }
            }
            isReading.open()
        }
        if call.ending == .cancelledBefore { task.cancel() }
        if call.ending == .cancelledInBody {
            try? await isReading.wait(within: Self.patience)
            task.cancel()
        }
        defer { task.cancel() }
        for _ in 0..<Int(Self.patience / .milliseconds(100)) {
            if let error = failed.read({ $0 }) { throw error }
            do {
                return try await end.wait(for: "the call", within: .milliseconds(100)) { $0 }
            } catch is WaitTimeout {}
        }
        throw ConformanceFailure(expected: "an end of \(call)", came: "a request that hangs")
    }

    private static func read(
        _ response: HTTPResponse, _ ending: LocalCall.Ending, _ isReading: Gate
    ) async throws -> LocalResult {
        var body = Data()
        var isFirst = true
        for try await chunk in response.body {
            body += chunk
            if isFirst, ending == .dropped { return .dropped }
            if isFirst, ending == .cancelledInBody {
                isReading.open()
                while !Task.isCancelled { await Task.yield() }
            }
            isFirst = false
        }
        if let length = response.body.length, length != Int64(body.count) {
            throw ConformanceFailure(expected: "a body of its length \(length)", came: "\(body.count) bytes")
        }
        return .response(Received(status: response.status, headers: response.headers, body: body))
    }

    private static func result(of error: any Error) throws -> LocalResult {
        if error is CancellationError { return .cancelled }
        if let error = error as? ErrandError {
            return error.code == .cancelled ? .cancelled : .failure("the error \(error.code)")
        }
        if let error = error as? ConformanceFailure { throw error }
        if error is any DescribedError { return .failure("the error \(type(of: error))") }
        throw ConformanceFailure(
            expected: "an ErrandError, another DescribedError, or a CancellationError",
            came: "\(type(of: error)): \(error)")
    }

    private static func body(of call: LocalCall, _ files: LocalFiles) throws -> RequestBody {
        let data = LocalCall.uploaded
        switch call.upload {
        case nil: return .none
        case .data: return .data(data, contentType: "text/plain")
        case .file:
            try data.write(to: files.source)
            return .file(files.source, contentType: "text/plain")
        case .stream:
            return .stream(length: Int64(data.count), contentType: "text/plain") {
                HTTPBody(length: Int64(data.count), source: LocalSource(data))
            }
        case .oneShot:
            return .stream(HTTPBody(length: Int64(data.count), source: LocalSource(data)), contentType: "text/plain")
        }
    }
}

private struct LocalFiles {
    let source: URL
    let destination: URL

    init() {
        let name = "errand-local-\(UInt64.random(in: 0 ... .max))"
        source = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        destination = FileManager.default.temporaryDirectory.appendingPathComponent(name + "-saved")
    }

    func remove() { for file in [source, destination] { try? FileManager.default.removeItem(at: file) } }
}

private final class LocalSource: HTTPBodySource {
    private let rest: Mutex<[Data]>

    init(_ data: Data) { rest = Mutex([Data(data.prefix(7)), Data(data.dropFirst(7))]) }

    func nextChunk() async throws -> Data? {
        await Task.yield()
        return rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func cancel() {}
}

/// A request body that doesn't arrive.
final class SilentSource: HTTPBodySource {
    let isRead = Gate()
    private let isCancelled = Gate()

    func nextChunk() async throws -> Data? {
        isRead.open()
        try await isCancelled.wait(within: .seconds(600))
        throw CancellationError()
    }

    func cancel() { isCancelled.open() }
}
