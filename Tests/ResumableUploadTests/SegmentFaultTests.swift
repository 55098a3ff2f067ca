import Errand
import ErrandResumableUpload
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Servers that misbehave during an upload in segments", .leakChecked) struct SegmentFaultTests {
    private let film = bytes(800_003)
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// Triggers a fault once for each URL.
    private final class Once: Sendable {
        private let seen = Mutex<Set<String>>([])
        func first(_ request: RecordedRequest) -> Bool { seen.withLock { $0.insert(request.path).inserted } }
    }

    @Test("segments that are interrupted at any byte continue at the server's offset", arguments: 0..<12)
    func cut(seed: Int) async throws {
        let origin = try joiningOrigin()
        let random = Mutex(SeededGenerator(seed: UInt64(seed) + 100))
        origin.set {
            $0.fault = { number, request in
                guard request.method == .patch || request.method == .head, number < 30 else { return nil }
                return random.withLock { random in
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0 where request.method == .head: .cut(0)
                    case 1 where request.method == .patch: .loseResponse
                    case 2 where request.method == .patch: .cut(.random(in: 1..<200_000, using: &random), .close)
                    case 3 where request.method == .patch: .cut(.random(in: 1..<200_000, using: &random))
                    default: nil
                    }
                }
            }
        }
        _ = try await agent(origin, quick(tries: 40, segments: 4)).send(Send(.data(film)))
        #expect(bodies(of: origin) == [film])
    }

    @Test("only a segment that the server has forgotten starts over")
    func forgotten() async throws {
        let origin = try joiningOrigin()
        let (cuts, heads) = (Once(), Counter())
        origin.set {
            $0.fault = { _, request in
                if request.method == .patch, cuts.first(request) { return .cut(100_000) }
                guard request.method == .head else { return nil }
                heads.increment()
                return heads.value == 2 ? .forgetThis : nil
            }
        }
        let upload = agent(origin, quick(segments: 4)).upload(Send(.data(film)))
        let names = try await notices(of: upload).map(\.name)
        #expect(names.filter { $0 == "restarting" }.count == 1)
        #expect(bodies(of: origin) == [film])
        // The forgotten segment's new URL is cut once more.
        #expect(origin.snapshot.log.filter { $0 == "PATCH 0" }.count == 5)
        #expect(origin.snapshot.received == 800_003 + 100_000)
    }

    @Test("a segment arrives completely if the server lost a part of it or reports a wrong offset")
    func otherOffset() async throws {
        for fault in [UploadOrigin.Fault.keepOnly(50_000), .offset("20000"), .offset("999999999"), .length(7)] {
            let origin = try joiningOrigin()
            let (cuts, heads) = (Once(), Counter())
            origin.set {
                $0.fault = { _, request in
                    if request.method == .patch, cuts.first(request) { return .cut(100_000) }
                    guard request.method == .head else { return nil }
                    heads.increment()
                    return heads.value == 1 ? fault : nil
                }
            }
            _ = try await agent(origin, quick(tries: 9, segments: 3)).send(Send(.data(film)))
            #expect(bodies(of: origin) == [film], "\(fault)")
        }
    }

    @Test("a damaged segment is sent again if the server verifies it")
    func damaged() async throws {
        let origin = try joiningOrigin()
        let patches = Counter()
        origin.set {
            $0.fault = { _, request in
                guard request.method == .patch else { return nil }
                patches.increment()
                return patches.value == 2 ? .flip : nil
            }
        }
        _ = try await agent(origin, quick(segments: 3, digest: true)).send(Send(.data(film)))
        #expect(bodies(of: origin) == [film])
    }

    /// Applies a fault to the first segment, and holds back the others.
    private func breakFirst(_ origin: UploadOrigin, _ fault: UploadOrigin.Fault) {
        origin.set { state in
            state.fault = { _, request in
                if request.method != .patch { return nil }
                return request.path == "/files/1" ? fault : .cut(100_000, .stall)
            }
        }
    }

    @Test(
        "a rejected segment ends the others, and the rejection is the response of the call", arguments: [401, 413])
    func refused(status: Int) async throws {
        let origin = try joiningOrigin()
        breakFirst(origin, .respond(status))
        let error = await failure { _ = try await agent(origin, quick(segments: 4)).send(Send(.data(film))) }
        #expect((error as? ErrandError)?.response?.status == status)
        try await origin.server.waitUntilNoConnections()
        #expect(bodies(of: origin).isEmpty)
    }

    @Test("a segment that fails too often ends the others, and a later start continues all of them")
    func failed() async throws {
        let origin = try joiningOrigin()
        breakFirst(origin, .cut(0))
        let options = quick(in: folder.url, tries: 3, segments: 4)
        let error = await failure { _ = try await agent(origin, options).send(Send(.data(film))) }
        #expect((error as? ErrandError)?.isRetryable == true)
        try await origin.server.waitUntilNoConnections()
        origin.set {
            $0.fault = { _, _ in nil }
            $0.log = []
        }
        _ = try await agent(origin, options).send(Send(.data(film)))
        #expect(bodies(of: origin) == [film] && !origin.snapshot.log.contains("OPTIONS"))
        #expect(origin.snapshot.misplaced == 0 && origin.snapshot.received == 800_003)
    }

    @Test("interim offsets beyond the body don't count as acknowledged")
    func hugeInterimOffsets() async throws {
        let transport = Boasting(segments: 10)
        let agent = NetworkAgent(
            baseURL: "https://example.com", transport: transport, filters: [.uploads(quick(segments: 10))])
        _ = try await agent.send(Send(.data(film)))
        #expect(transport.joined.value == 1)
    }

    /// A server of segments that reports huge offsets for all of them before it has received one.
    private final class Boasting: Transport {
        let joined = Counter()
        private let segments: Int
        private let begun = Counter()
        private let all = Gate()

        init(segments: Int) { self.segments = segments }

        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            var headers: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
            switch request.method {
            case .options:
                headers["Tus-Version"] = "1.0.0"
                headers["Tus-Extension"] = "creation,concatenation"
                return HTTPResponse(to: request, status: 204, headers: headers, body: .empty)
            case .post where request.headers["Upload-Concat"] == "partial":
                options.report(.informational(status: 104, headers: ["Upload-Offset": "\(1 << 60)"]))
                headers[.location] = "/files/\(begun.increment())"
                if begun.value == segments { all.open() }
                try await all.wait()
                return HTTPResponse(to: request, status: 201, headers: headers, body: .empty)
            case .post:
                joined.increment()
                return HTTPResponse(to: request, status: 201, headers: headers, body: .empty)
            default:
                let count = try await request.body.open().collect(upTo: 1 << 20).count
                headers["Upload-Offset"] = "\(count)"
                return HTTPResponse(to: request, status: 204, headers: headers, body: .empty)
            }
        }
    }

    @Test("if the locations are too long to list, the body is sent over one connection")
    func longPlaces() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.naming = String(repeating: "x", count: 2000) }
        let upload = agent(origin, quick(in: folder.url, segments: 4)).upload(Send(.data(film)))
        #expect(try await notices(of: upload).map(\.name) == ["restarting"])
        #expect(bodies(of: origin) == [film] && origin.snapshot.joined.isEmpty)
        // At least the segment whose URL arrived was terminated. The others may have been cancelled before theirs did.
        #expect((1...4).contains(origin.snapshot.uploads.count))
    }

    /// Applies a fault once, to the request that joins the segments.
    private func breakJoining(_ origin: UploadOrigin, _ fault: UploadOrigin.Fault) {
        let joins = Counter()
        origin.set { state in
            state.fault = { _, request in
                guard UploadOrigin.joins(request) else { return nil }
                joins.increment()
                return joins.value == 1 ? fault : nil
            }
            state.log = []
        }
    }

    @Test("segments are joined again only if that is safe")
    func lostResponse() async throws {
        for (method, headers, count) in [
            (HTTPMethod.post, HTTPHeaders(), 1), (.put, [:], 2), (.post, [.idempotencyKey: "k"], 2),
        ] {
            let origin = try joiningOrigin()
            breakJoining(origin, .loseResponse)
            let send = Send(.data(film)).with { ($0.method, $0.headers) = (method, headers) }
            let error = await failure { _ = try await agent(origin, quick(segments: 3)).send(send) }
            #expect(bodies(of: origin) == Array(repeating: film, count: count) && (error == nil) == (count == 2))
            #expect(origin.snapshot.received == 800_003)
        }
    }

    @Test(
        "after a lost response, the next start joins again, or sends the missing segments again",
        arguments: [false, true])
    func nextStart(deletes: Bool) async throws {
        let origin = try joiningOrigin()
        origin.set { $0.deletesJoined = deletes }
        breakJoining(origin, .loseResponse)
        let options = quick(in: folder.url, segments: 3)
        let error = await failure { _ = try await agent(origin, options).send(Send(.data(film))) }
        #expect(error != nil)
        #expect(try ResumableUploadFilter.pendingUploads(in: folder.url).first?.acknowledged == 800_003)
        origin.set { $0.log = [] }
        _ = try await agent(origin, options).send(Send(.data(film)))
        #expect(bodies(of: origin) == [film, film])
        #expect(origin.snapshot.received == (deletes ? 2 : 1) * 800_003)
        #expect(origin.snapshot.log.filter { $0 == "HEAD" }.count == 3 && !origin.snapshot.log.contains("DELETE"))
        #expect(try ResumableUploadFilter.pendingUploads(in: folder.url).isEmpty)
    }

    @Test("segments that are missing after a lost response are sent again at once, if that is safe")
    func goneAtOnce() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.deletesJoined = true }
        breakJoining(origin, .loseResponse)
        _ = try await agent(origin, quick(segments: 3)).send(Send(.data(film)).with { $0.method = .put })
        #expect(bodies(of: origin) == [film, film])
    }

    @Test("a joining request that wasn't processed is sent again", arguments: [408, 423, 429, 503])
    func notYet(status: Int) async throws {
        let origin = try joiningOrigin()
        breakJoining(origin, .respond(status, [.retryAfter: "0"]))
        _ = try await agent(origin, quick(segments: 3)).send(Send(.data(film)))
        #expect(bodies(of: origin) == [film] && origin.snapshot.received == 800_003)
    }

    @Test("an internal server error may occur after the work, so it is the response", arguments: [500, 502, 504])
    func perhaps(status: Int) async throws {
        let origin = try joiningOrigin()
        breakJoining(origin, .respond(status))
        let error = await failure { _ = try await agent(origin, quick(segments: 3)).send(Send(.data(film))) }
        #expect((error as? ErrandError)?.response?.status == status && bodies(of: origin).isEmpty)
        breakJoining(origin, .respond(status))
        let put = Send(.data(film)).with { $0.method = .put }
        _ = try await agent(origin, quick(segments: 3)).send(put)
        #expect(bodies(of: origin) == [film])
    }

    @Test("only a segment that is missing when joining is sent again")
    func missing() async throws {
        let origin = try joiningOrigin()
        let (joins, heads) = (Counter(), Counter())
        origin.set {
            $0.fault = { _, request in
                if request.method == .head { heads.increment() }
                if request.method == .head, heads.value == 2 { return .forgetThis }
                guard UploadOrigin.joins(request) else { return nil }
                joins.increment()
                return joins.value == 1 ? .respond(404) : nil
            }
        }
        _ = try await agent(origin, quick(segments: 4)).send(Send(.data(film)))
        #expect(bodies(of: origin) == [film] && heads.value == 4)
        #expect(origin.snapshot.log.filter { $0 == "PATCH 0" }.count == 5)
    }

    @Test(
        "a server that doesn't support joining or segments gets the body over one connection", arguments: [431, 501],
        [false, true])
    func cannotJoin(status: Int, atOnce: Bool) async throws {
        let origin = try joiningOrigin()
        origin.set {
            $0.fault = { _, request in
                UploadOrigin.joins(request) || atOnce && request.headers["Upload-Concat"] == "partial"
                    ? .respond(status) : nil
            }
        }
        let upload = agent(origin, quick(in: folder.url, segments: 3)).upload(Send(.data(film)))
        #expect(try await notices(of: upload).map(\.name) == ["restarting"])
        #expect(bodies(of: origin) == [film] && origin.snapshot.uploads.count == 1)
        #expect(origin.snapshot.log.filter { $0 == "DELETE" }.count == (atOnce ? 0 : 3))
    }

    @Test("a server that refuses to join its segments ends the upload", arguments: [400, 403, 404])
    func neverJoins(status: Int) async throws {
        let origin = try joiningOrigin()
        origin.set { $0.fault = { _, request in UploadOrigin.joins(request) ? .respond(status) : nil } }
        let error = await failure { _ = try await agent(origin, quick(segments: 3)).send(Send(.data(film))) }
        #expect((error as? ErrandError)?.response?.status == status)
        #expect(origin.snapshot.log.filter { $0 == "HEAD" }.count == (status == 403 ? 0 : 3))
        #expect(origin.snapshot.received == 800_003)
    }
}
