import Errand
import ErrandTesting
package import Foundation
import Synchronization

/// Receives files by tus 1.0. It breaks the connection once per file, halfway through, so the upload has to resume.
package final class FileService: Sendable {
    private struct Upload {
        let length: Int
        var data = Data()
        var hasBroken = false
    }

    private struct State {
        var uploads: [String: Upload] = [:]
        var number = 0
        var last: Data?
    }

    private let state = Mutex(State())
    private let pace: Duration

    init(pace: Duration) { self.pace = pace }

    /// The most recent file received, or nil if there isn't one yet.
    package var lastFile: Data? { state.withLock { $0.last } }

    func respond(_ request: RecordedRequest) -> TestResponse {
        var response: TestResponse
        switch request.method {
        case .options:
            response = .status(204, headers: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,termination"])
        case .post: response = create(request)
        case .head: response = offset(request)
        case .patch: response = append(request)
        case .delete:
            state.withLock { $0.uploads[request.path] = nil }
            response = .status(204)
        default: response = .status(405)
        }
        response.headers["Tus-Resumable"] = "1.0.0"
        return response.delayed(by: pace)
    }

    private func create(_ request: RecordedRequest) -> TestResponse {
        guard let length = number(request, "Upload-Length"), length > 0, length <= 64 << 20 else { return .status(413) }
        let place = state.withLock { state in
            state.number += 1
            state.uploads["/files/\(state.number)"] = Upload(length: length)
            return "/files/\(state.number)"
        }
        return .status(201, headers: [.location: place])
    }

    private func offset(_ request: RecordedRequest) -> TestResponse {
        guard let upload = state.withLock({ $0.uploads[request.path] }) else { return .status(404) }
        return .status(
            200,
            headers: [
                "Upload-Offset": "\(upload.data.count)", "Upload-Length": "\(upload.length)", .cacheControl: "no-store",
            ])
    }

    private func append(_ request: RecordedRequest) -> TestResponse {
        state.withLock { state in
            guard var upload = state.uploads[request.path] else { return .status(404) }
            guard number(request, "Upload-Offset") == upload.data.count,
                request.body.count <= upload.length - upload.data.count
            else { return .status(409) }
            upload.data += request.body
            let isWhole = upload.data.count == upload.length
            let breaks = !isWhole && !upload.hasBroken && upload.data.count > upload.length / 2
            upload.hasBroken = upload.hasBroken || breaks
            if isWhole { state.last = upload.data }
            state.uploads[request.path] = upload
            let response = TestResponse.status(204, headers: ["Upload-Offset": "\(upload.data.count)"])
            return breaks ? response.resetting(afterBytes: 0) : response
        }
    }

    private func number(_ request: RecordedRequest, _ name: HTTPHeaderName) -> Int? {
        request.headers[name].flatMap { Int($0) }
    }
}
