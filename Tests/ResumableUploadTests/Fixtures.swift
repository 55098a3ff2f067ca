import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

struct Send: UploadRequest {
    typealias Output = HTTPResponse
    var path = "files"
    var method: HTTPMethod = .post
    var body: RequestBody
    var headers: HTTPHeaders = [:]
    var uploadKey: String?
    var uploadMetadata: [String: String] = [:]
    var uploadOptions: UploadOptions?
    var timeout: Duration?

    init(_ body: RequestBody) { self.body = body }

    func with(_ change: (inout Send) -> Void) -> Send {
        var copy = self
        change(&copy)
        return copy
    }
}

extension UploadOrigin.Kind {
    /// The number of the request with the first byte of a long body: after OPTIONS and, for tus, after the creation.
    var firstRequest: Int { self == .tus ? 3 : 2 }
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

func quick(
    _ uploadProtocol: UploadProtocol = .automatic, in directory: URL? = nil, tries: Int = 5, part: Int64? = nil,
    segments: Int = 1, minimum: Int64 = 1, digest: Bool = false
) -> UploadOptions {
    UploadOptions(
        directory: directory, uploadProtocol: uploadProtocol,
        retry: TransferRetryPolicy(
            maximumFailures: tries - 1, maximumAttempts: tries == 1 ? 1 : nil, backoff: .none),
        maximumRequestBytes: part, maximumSegments: segments, minimumSegmentBytes: minimum, sendsDigest: digest,
        progressInterval: .zero)
}

func agent(_ origin: UploadOrigin, _ options: UploadOptions = quick()) -> NetworkAgent {
    NetworkAgent(baseURL: origin.url, transport: .system, filters: [.uploads(options)])
}

/// Returns the contents of the server's complete uploads.
func bodies(of origin: UploadOrigin) -> [Data] { origin.snapshot.bodies.map { Data($0) } }

func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch { return error }
}

func notices(of upload: Upload<HTTPResponse>) async throws -> [TransferNotice] {
    var notices: [TransferNotice] = []
    for try await event in upload {
        if case .notice(let notice) = event { notices.append(notice) }
    }
    return notices
}

extension TransferNotice {
    var name: String {
        switch self {
        case .queued: "queued"
        case .retrying: "retrying"
        case .continuing: "continuing"
        case .restarting: "restarting"
        case .ordinary: "ordinary"
        case .completedEarlier: "completedEarlier"
        case .skipping: "skipping"
        case .decoding: "decoding"
        }
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
