package import Errand
import ErrandEssentials
package import ErrandTesting
import Synchronization

/// A server for resumable uploads at `/files`. It keeps the bytes of a body that breaks off, and misbehaves on demand.
package final class UploadOrigin: Sendable {
    package enum Kind: Sendable, Hashable {
        case draft(Int)
        case tus
        /// Takes whole bodies without a resumption protocol.
        case ordinary
    }

    /// A way to misbehave on one request.
    package enum Fault: Sendable {
        /// Keeps this many bytes of the body, and then resets, closes or stops responding.
        case cut(Int, Ending = .reset)
        /// Handles the request, but loses the response.
        case loseResponse
        /// Like `loseResponse`, behind a proxy that doesn't forward a 104.
        case loseResponses
        /// Only sends this response.
        case respond(Int, HTTPHeaders = [:])
        /// Forgets every upload, and then handles the request.
        case forget
        /// Forgets the requested upload, and then handles the request.
        case forgetThis
        /// Drops all but this many bytes of each upload, and then handles the request.
        case keepOnly(Int)
        case offset(String)
        case length(Int)
        /// Handles the request, and changes header fields of the response.
        case change([HTTPHeaderName: String?])
        case flip
        case repeatResponse
        /// Sends no location in a 104.
        case silent
        /// Sends no location in a 104, and resets after this many bytes.
        case cutSilently(Int)
        case wait(Gate)

        package enum Ending: Sendable { case reset, close, stall }
    }

    package struct Upload: Sendable {
        package var data: [UInt8] = []
        package var count = 0
        package var total: Int?
        package var isComplete = false
        package var metadata: String?
        /// Whether this is a segment, to be joined with others.
        package var isPartial = false

        package init(total: Int? = nil) { self.total = total }
    }

    package struct State: Sendable {
        package var uploads: [String: Upload] = [:]
        /// The completely received bodies, in order.
        package var bodies: [[UInt8]] = []
        /// A summary of each request, such as "PATCH 700".
        package var log: [String] = []
        /// Returns the fault for a request, given the request's number, starting at 1.
        package var fault: @Sendable (Int, RecordedRequest) -> Fault? = { _, _ in nil }
        package var limits = ""
        package var extensions = "creation,creation-with-upload,expiration,checksum,termination"
        package var expires: String?
        package var finalStatus = 201
        package var deletesJoined = false
        /// The metadata of each joined body.
        package var joined: [String?] = []
        package var naming = ""
        /// A suffix for the `Location` of an upload, such as a query.
        package var ending = ""
        /// The number of bytes kept, and the number of bytes that arrived for a wrong offset.
        package var received = 0
        package var misplaced = 0
        package var stalls = 0
        var lastID = 0
        fileprivate var running: [String: Running] = [:]
    }

    fileprivate struct Running: Sendable {
        var id: String?
        var fault: Fault?
        var limit: Int
        var isOrdinary = false
    }

    package let server: TestServer
    package let kind: Kind
    private let keeps: Bool
    private let state = Mutex(State())

    /// - Parameter keeps: whether to keep bodies, or only count their bytes.
    package init(_ kind: Kind, keeps: Bool = true) throws {
        (self.kind, self.keeps) = (kind, keeps)
        var configuration = TestServer.Configuration()
        configuration.maximumRecordedRequests = 0
        server = try TestServer(configuration)
        server.on(
            "/files*",
            reading: .watched { [weak self] request, piece in self?.read(request, piece) ?? [.close] }
        ) { [weak self] request in self?.respond(request) ?? .status(503) }
    }

    package var url: String { server.url }
    package var snapshot: State { state.withLock { $0 } }
    package func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    private func key(_ request: RecordedRequest) -> String { "\(request.connection)-\(request.index)" }

    /// Handles the head of a request, or a piece of its body.
    private func read(_ request: RecordedRequest, _ piece: Data) -> [BodyAction] {
        state.withLock { state in
            if piece.isEmpty { return begin(request, &state) }
            guard var running = state.running[key(request)] else { return [] }
            let taken = min(piece.count, running.limit)
            running.limit -= taken
            if let id = running.id, taken > 0 {
                if keeps {
                    var bytes = Array(piece.prefix(taken))
                    if case .flip? = running.fault { bytes[0] ^= 1 }
                    state.uploads[id]?.data += bytes
                }
                state.uploads[id]?.count += taken
                state.received += taken
            } else if request.method == .patch {
                state.misplaced += piece.count
            }
            state.running[key(request)] = running
            if running.limit == 0, case .cutSilently? = running.fault { return [.reset] }
            guard running.limit == 0, case .cut(_, let ending)? = running.fault else { return [] }
            if case .stall = ending { state.stalls += 1 }
            return [ending.action]
        }
    }

    private func begin(_ request: RecordedRequest, _ state: inout State) -> [BodyAction] {
        let offset = Self.number(request, "Upload-Offset")
        state.log.append(offset.map { "\(request.method) \($0)" } ?? request.method.rawValue)
        var running = Running(fault: state.fault(state.log.count, request), limit: .max)
        if case .cutSilently(let count)? = running.fault { running.limit = count }
        if case .cut(let count, let ending)? = running.fault {
            running.limit = count
            if count == 0 {
                if case .stall = ending { state.stalls += 1 }
                return [ending.action]
            }
        }
        switch running.fault {
        case .forget: state.uploads = [:]
        case .forgetThis: state.uploads[Self.id(request)] = nil
        case .keepOnly(let count):
            state.uploads = state.uploads.mapValues { upload in
                var upload = upload
                upload.data = Array(upload.data.prefix(count))
                upload.count = min(count, upload.count)
                return upload
            }
        case .respond:
            state.running[key(request)] = running
            return []
        default: break
        }
        var actions: [BodyAction] = []
        let id = Self.id(request)
        switch request.method {
        case .post where Self.joins(request): break
        case .post, .put:
            state.lastID += 1
            let id = "\(state.naming)\(state.lastID)"
            running.id = id
            var upload = Upload(total: Self.number(request, "Upload-Length"))
            upload.metadata = request.headers["Upload-Metadata"]
            upload.isPartial = request.headers["Upload-Concat"] == "partial"
            state.uploads[id] = upload
            let isDraft = request.headers.contains("Upload-Draft-Interop-Version")
            if case .draft(let version) = kind, isDraft {
                switch running.fault {
                case .silent?, .cutSilently?, .loseResponses?: break
                default:
                    var headers: HTTPHeaders = [
                        .location: "/files/\(state.lastID)\(state.ending)",
                        "Upload-Draft-Interop-Version": "\(version)",
                    ]
                    if !state.limits.isEmpty { headers["Upload-Limit"] = state.limits }
                    actions.append(.inform(104, headers))
                }
            } else if kind != .tus {
                running.isOrdinary = true
            }
        case .patch:
            if let upload = state.uploads[id], offset == upload.count, !upload.isComplete { running.id = id }
        default: break
        }
        state.running[key(request)] = running
        return actions
    }

    private func respond(_ request: RecordedRequest) -> TestResponse {
        let (response, fault) = state.withLock { state -> (TestResponse, Fault?) in
            let running = state.running.removeValue(forKey: key(request))
            if case .respond(let status, let headers)? = running?.fault {
                return (.status(status, headers: headers), nil)
            }
            return (answer(request, running, &state), running?.fault)
        }
        switch fault {
        case .loseResponse?, .loseResponses?: return response.resetting(afterBytes: 0)
        case .offset(let offset)? where response.headers.contains("Upload-Offset"):
            var changed = response
            changed.headers["Upload-Offset"] = offset
            return changed
        case .length(let length)?:
            var changed = response
            changed.headers["Upload-Length"] = "\(length)"
            return changed
        case .change(let fields)?:
            var changed = response
            for (name, value) in fields {
                changed.headers.remove(name)
                if let value { changed.headers[name] = value }
            }
            return changed
        case .repeatResponse?:
            return .raw("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
        case .wait(let gate)?: return response.waiting(for: gate)
        default: return response
        }
    }

    private func answer(_ request: RecordedRequest, _ running: Running?, _ state: inout State) -> TestResponse {
        if request.method == .options { return options(state) }
        if running?.isOrdinary == true, let id = running?.id, let upload = state.uploads.removeValue(forKey: id) {
            state.bodies.append(upload.data)
            return .text("stored", status: state.finalStatus)
        }
        if Self.joins(request) { return state.join(request) }
        let id = running?.id ?? Self.id(request)
        guard var upload = state.uploads[id] else { return .status(404) }
        var headers: HTTPHeaders = kind == .tus ? ["Tus-Resumable": "1.0.0"] : [:]
        if let expires = state.expires { headers["Upload-Expires"] = expires }
        if !state.limits.isEmpty, kind != .tus { headers["Upload-Limit"] = state.limits }
        switch request.method {
        case .head:
            headers["Upload-Offset"] = "\(upload.count)"
            if let total = upload.total { headers["Upload-Length"] = "\(total)" }
            if kind != .tus { headers["Upload-Complete"] = upload.isComplete ? "?1" : "?0" }
            if upload.isPartial { headers["Upload-Concat"] = "partial" }
            headers[.cacheControl] = "no-store"
            return .status(kind == .tus ? 200 : 204, headers: headers)
        case .delete:
            state.uploads[id] = nil
            return .status(204, headers: headers)
        case .patch where running?.id == nil:
            headers["Upload-Offset"] = "\(upload.count)"
            return .status(409, headers: headers)
        default: break
        }
        if let checksum = request.headers["Upload-Checksum"] {
            // The test that sends a wrong checksum compares it. Here only the form counts.
            guard checksum.hasPrefix("sha256 ") else { return .status(400, headers: headers) }
            if case .flip? = running?.fault {
                upload.count -= Int(request.bodyLength)
                upload.data.removeLast(min(upload.data.count, Int(request.bodyLength)))
                state.uploads[id] = upload
                return .status(460, headers: headers)
            }
        }
        headers["Upload-Offset"] = "\(upload.count)"
        if request.method == .post || request.method == .put { headers[.location] = "/files/\(id)\(state.ending)" }
        let isLast = kind == .tus ? upload.count == upload.total : request.headers["Upload-Complete"] == "?1"
        if isLast {
            upload.isComplete = true
            state.uploads[id] = upload
            if !upload.isPartial { state.bodies.append(upload.data) }
        }
        if kind == .tus { return .status(request.method == .post ? 201 : 204, headers: headers) }
        headers["Upload-Complete"] = isLast ? "?1" : "?0"
        return isLast
            ? TestResponse.text("stored", status: state.finalStatus).merging(headers) : .status(201, headers: headers)
    }

    private func options(_ state: State) -> TestResponse {
        switch kind {
        case .ordinary: return .status(405)
        case .draft(let version):
            var headers: HTTPHeaders = ["Upload-Draft-Interop-Version": "\(version)"]
            headers["Upload-Limit"] = state.limits.isEmpty ? "min-size=0" : state.limits
            return .status(204, headers: headers)
        case .tus:
            var headers: HTTPHeaders = [
                "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": state.extensions,
                "Tus-Checksum-Algorithm": "sha1,sha256",
            ]
            if !state.limits.isEmpty { headers["Tus-Max-Size"] = state.limits }
            return .status(204, headers: headers)
        }
    }

    private static func id(_ request: RecordedRequest) -> String { String(request.path.dropFirst("/files/".count)) }

    private static func number(_ request: RecordedRequest, _ name: HTTPHeaderName) -> Int? {
        request.headers[name].flatMap { Int($0) }
    }
}

extension UploadOrigin.Fault.Ending {
    fileprivate var action: BodyAction {
        switch self {
        case .reset: .reset
        case .close: .close
        case .stall: .stall
        }
    }
}

extension TestResponse {
    fileprivate func merging(_ headers: HTTPHeaders) -> TestResponse {
        var response = self
        response.headers.merge(headers)
        return response
    }
}
