import Errand
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request's body, in a form that URLSession accepts.
final class SessionUpload: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        case file(URL, isOurs: Bool)
        case stream(StreamPump)
    }

    let source: Source
    let length: Int64?
    private let body: RequestBody
    /// The pump of a reopened body.
    private let later = Mutex<(pump: StreamPump?, hasEnded: Bool)>((nil, false))

    init(_ body: RequestBody, _ options: TransportOptions) async throws {
        self.body = body
        if let data = body.data {
            source = data.isEmpty ? .none : .data(data)
            length = Int64(data.count)
            return
        }
        let opened = try body.open()
        if let data = opened.data {
            source = data.isEmpty ? .none : .data(data)
            length = Int64(data.count)
        } else if let file = opened.file {
            source = .file(file, isOurs: false)
            length = body.length ?? opened.length
        } else {
            (source, length) = try await Self.streamed(opened, body.length ?? opened.length)
        }
    }

    func makeTask(_ request: URLRequest, in session: URLSession, for transfer: SessionTransfer) -> URLSessionTask {
        var request = request
        if case .none = source {
        } else if request.value(forHTTPHeaderField: "Content-Type") == nil {
            // Set a type. Without one, the session would declare a form on Linux.
            request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        }
        switch source {
        case .none: return session.dataTask(with: request)
        case .data(let data):
            request.httpBody = data
            return session.dataTask(with: request)
        case .file(let url, _): return session.uploadTask(with: request, fromFile: url)
        case .stream(let pump):
            pump.attach(to: &request, length: length)
            return session.dataTask(with: request)
        }
    }

    func begin(_ transfer: SessionTransfer) {
        if case .stream(let pump) = source { pump.begin(transfer) }
    }

    func reopened() -> HTTPBody? { body.isReplayable ? try? body.open() : nil }

    func replacePump(_ pump: StreamPump) -> Bool {
        let (old, hasEnded) = later.withLock { later in
            let old = later
            if !old.hasEnded { later.pump = pump }
            return old
        }
        if hasEnded { return false }
        if let old {
            old.end()
        } else if case .stream(let first) = source {
            first.end()
        }
        return true
    }

    func end() {
        let pump = later.withLock { later in
            later.hasEnded = true
            return later.pump
        }
        pump?.end()
        switch source {
        case .file(let url, isOurs: true): try? FileManager.default.removeItem(at: url)
        case .stream(let pump): pump.end()
        case .none, .data, .file: break
        }
    }

    static func failure(_ error: any Error) -> ErrandError {
        if error is CancellationError { return ErrandError(.cancelled, "the transfer was cancelled") }
        guard let error = error as? ErrandError else {
            return ErrandError(.encodingFailed, "the body could not be read", underlying: error)
        }
        // A wrong length of the body is a defect of the request, not of a response.
        if error.code != .truncated, error.code != .invalidResponse { return error }
        return ErrandError(.invalidRequest, "the body's length differs from the announced length", underlying: error)
    }

    static func wrongLength(_ announced: Int64, _ came: Int64) -> ErrandError {
        ErrandError(.invalidRequest, "the body has \(came) bytes, but \(announced) were announced")
    }
}
