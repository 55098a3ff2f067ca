import Errand
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of a request, as URLSession takes it.
final class Upload: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        case file(URL, isOurs: Bool)
        case stream(StreamPump)
    }

    let source: Source
    /// In bytes; nil if unknown.
    let length: Int64?

    init(_ body: RequestBody, _ options: TransportOptions) async throws {
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

    func makeTask(_ request: URLRequest, _ session: URLSession, _ transfer: Transfer) -> URLSessionTask {
        var request = request
        if case .none = source {
        } else if request.value(forHTTPHeaderField: "Content-Type") == nil {
            // On Linux the session would otherwise declare a form.
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

    func begin(_ transfer: Transfer) {
        if case .stream(let pump) = source { pump.begin(transfer) }
    }

    /// Releases what the exchange has held.
    func end() {
        switch source {
        case .file(let url, isOurs: true): try? FileManager.default.removeItem(at: url)
        case .stream(let pump): pump.end()
        case .none, .data, .file: break
        }
    }

    /// Maps a failure of the body's source to an error of the request.
    static func failure(_ error: any Error) -> ErrandError {
        if error is CancellationError { return ErrandError(.cancelled, "the transfer was cancelled") }
        guard let error = error as? ErrandError else {
            return ErrandError(.bodyEncoding, "the body could not be read", underlying: error)
        }
        // A body of the wrong length is a defect of the request; no response was received yet.
        if error.code != .truncated, error.code != .invalidResponse { return error }
        return ErrandError(.invalidRequest, "the body is not what it announced", underlying: error)
    }

    static func wrongLength(_ announced: Int64, _ came: Int64) -> ErrandError {
        ErrandError(.invalidRequest, "the body announced \(announced) bytes, and \(came) came")
    }
}
