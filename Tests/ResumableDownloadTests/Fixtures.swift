import Errand
import ErrandResumableDownload
import ErrandSystemTransport
import ErrandTesting
import ErrandURLSessionTransport
import Foundation
import Synchronization
import Testing

struct Get: DownloadRequest {
    var path = "film.mp4"
    var destination: URL
    var method: HTTPMethod = .get
    var headers: HTTPHeaders = [:]
    var checksum: Checksum?
    var downloadKey: String?
    var downloadOptions: DownloadOptions?
    var checks: [ResponseCheck] = []
    var acceptableContentTypes: ContentTypes = .any
    var timeout: Duration?

    init(_ destination: URL, path: String = "film.mp4") { (self.destination, self.path) = (destination, path) }

    func with(_ change: (inout Get) -> Void) -> Get {
        var copy = self
        change(&copy)
        return copy
    }
}

/// The transports to test: two on Linux, one elsewhere.
enum Wire: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case system, urlSession

    #if !os(Linux)
    static let allCases: [Wire] = [.system]
    #endif

    var transport: any Transport {
        switch self {
        case .system: .system
        case .urlSession: .urlSession
        }
    }

    var testDescription: String { rawValue }
}

/// Returns bytes that vary by position and seed.
func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        words[index] = state
    }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
}

func quick(segments: Int = 1, tries: Int = 5, clash: NameCollisionPolicy = .number) -> DownloadOptions {
    DownloadOptions(
        maximumSegments: segments, minimumSegmentBytes: 64 << 10, nameCollisionPolicy: clash,
        retry: TransferRetryPolicy(
            maximumFailures: tries - 1, maximumAttempts: tries == 1 ? 1 : nil, backoff: .none),
        progressInterval: .zero)
}

func agent(_ server: TestServer, _ wire: Wire = .system, _ options: DownloadOptions = quick()) -> NetworkAgent {
    NetworkAgent(baseURL: server.url, transport: wire.transport, filters: [.downloads(options)])
}

func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch { return error }
}

extension RecordedRequest {
    var range: String? { headers["Range"] }
}

extension RequestHandle {
    /// Returns the download's result, and advances the time whenever no bytes have arrived for a while. A slow
    /// download on a loaded machine therefore isn't mistaken for one that has stopped.
    func value(passing time: ManualTimeSource, by step: Duration) async throws -> Success {
        let passing = Task {
            var (last, looks) = (Int64(-1), 0)
            while !Task.isCancelled {
                let received = progress.received
                looks = received == last ? looks + 1 : 0
                last = received
                if looks >= 5 { time.advance(by: step) }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { passing.cancel() }
        return try await value
    }
}

extension CallOptions {
    /// Returns options that observe every report of a transfer; a reader of the events may miss some.
    static func watching(_ report: @escaping @Sendable (TransferStatus) -> Void) -> CallOptions {
        var options = CallOptions()
        options.tags[TransferCall.self] = TransferCall {
            if case .progress(let status) = $0 { report(status) }
        }
        return options
    }
}
