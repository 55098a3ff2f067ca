import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("Servers that misbehave during an upload", .leakChecked) struct FaultTests {
    private let film = bytes(500_000)

    /// A fault, tested with all protocols unless the case restricts them. It depends on the request's number; the
    /// first request carries the body.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: @Sendable (Int, RecordedRequest) -> UploadOrigin.Fault?
        var kinds: [UploadOrigin.Kind] = [.draft(8), .draft(6), .tus]

        init(
            _ name: String, kinds: [UploadOrigin.Kind] = [.draft(8), .draft(6), .tus],
            _ fault: @escaping @Sendable (Int, RecordedRequest) -> UploadOrigin.Fault?
        ) { (testDescription, self.kinds, self.fault) = (name, kinds, fault) }
    }

    private static let draft: [UploadOrigin.Kind] = [.draft(8), .draft(6)]

    static let cases: [Case] = [
        Case("resets before the first byte") { number, _ in number == 1 ? .cut(0) : nil },
        Case("resets after the first byte") { number, _ in number == 1 ? .cut(1) : nil },
        Case("resets in the middle") { number, _ in number == 1 ? .cut(250_000) : nil },
        Case("resets before the last byte") { number, _ in number == 1 ? .cut(499_999) : nil },
        Case("closes in the middle") { number, _ in number == 1 ? .cut(250_000, .close) : nil },
        Case("closes before the first byte") { number, _ in number == 1 ? .cut(0, .close) : nil },
        Case("resets the question and the rest") { number, request in
            number == 1 ? .cut(100_000) : number == 2 ? .cut(0) : request.method == .patch && number < 5 ? .cut(1) : nil
        },
        Case("resets six times, with progress each time") { number, request in
            number < 12 && request.method != .head ? .cut(70_000) : nil
        },
        Case("loses the response to the rest") { number, request in
            number == 1 ? .cut(100_000) : request.method == .patch ? .loseResponse : nil
        },
        Case("forgets the upload before the question") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .forget : nil
        },
        Case("forgets the upload before the rest") { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .forget : nil
        },
        Case("loses half of what it had before the question") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .keepOnly(125_000) : nil
        },
        Case("loses half of what it had before the rest") { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .keepOnly(125_000) : nil
        },
        Case("loses all that it had before the rest") { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .keepOnly(0) : nil
        },
        Case("says a smaller offset") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .offset("200000") : nil
        },
        Case("says a larger offset") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .offset("300000") : nil
        },
        Case("says an offset beyond the end") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .offset("500001") : nil
        },
        Case("says an offset that is no number") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .offset("many") : nil
        },
        Case("says a negative offset") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .offset("-1") : nil
        },
        Case("says an offset that overflows") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .offset("18446744073709551616") : nil
        },
        Case("says no offset") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .change(["Upload-Offset": nil]) : nil
        },
        Case("expects another length") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .length(400_000) : nil
        },
        Case("is overloaded at first") { number, _ in number == 1 ? .respond(503) : nil },
        Case("is overloaded for the question") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .respond(503, [.retryAfter: "0"]) : nil
        },
        Case("is overloaded for the rest") { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .respond(429) : nil
        },
        Case("fails inside for the rest") { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .respond(500) : nil
        },
        Case("is locked for the rest", kinds: [.tus]) { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .respond(423) : nil
        },
        Case("refuses the offset without saying another") { number, _ in
            number == 1 ? .cut(250_000) : number == 3 ? .respond(409) : nil
        },
        Case("no longer has it when it is asked") { number, _ in
            number == 1 ? .cut(250_000) : number == 2 ? .respond(410) : nil
        },
        Case("redirects the question") { number, request in
            number == 1 ? .cut(250_000) : number == 2 ? .respond(307, [.location: request.path]) : nil
        },
        Case("redirects the rest") { number, request in
            number == 1 ? .cut(250_000) : number == 3 ? .respond(308, [.location: request.path]) : nil
        },
        Case("redirects the creation for good") { number, _ in
            number == 1 ? .respond(308, [.location: "/files/"]) : nil
        },
        Case("redirects the creation") { number, request in
            number == 1 ? .respond(307, [.location: "/files/"]) : number == 2 ? .cut(250_000) : nil
        },
        Case("sends nothing but a broken response to the rest") { number, request in
            number == 1 ? .cut(250_000) : number == 3 ? .repeatResponse : nil
        },
        Case("names no place before it breaks off", kinds: draft) { number, _ in
            // No server has the whole body, so it may be sent again.
            number == 1 ? .silent : nil
        },
        Case("says an incomplete upload is one after the last byte", kinds: draft) { number, _ in
            number == 1 ? .change(["Upload-Complete": "?0"]) : nil
        },
    ]

    @Test("the body arrives once and whole", arguments: cases)
    func fault(of test: Case) async throws {
        for kind in test.kinds {
            let origin = try UploadOrigin(kind)
            let skipped = kind.firstRequest - 1
            origin.set {
                $0.fault = { number, request in number <= skipped ? nil : test.fault(number - skipped, request) }
            }
            _ = try await agent(origin).send(Send(.data(film)))
            let bodies = origin.snapshot.bodies
            #expect(bodies.count == 1 && bodies.last.map { Data($0) } == film, "\(kind): \(origin.snapshot.log)")
        }
    }

    @Test("a silent server ends the attempt after the request's timeout", arguments: kinds)
    func silent(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        origin.set { $0.fault = { number, _ in number == kind.firstRequest ? .cut(250_000, .stall) : nil } }
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: origin.url, transport: .system, filters: [.uploads(quick())], time: time)
        let handle = agent.start(Send(.data(film)))
        // The request stalls once its bytes have arrived.
        try await eventually { origin.snapshot.uploads["1"]?.count == 250_000 }
        let passing = Task {
            while !Task.isCancelled {
                time.advance(by: .seconds(61))
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        defer { passing.cancel() }
        _ = try await handle.value
        #expect(origin.snapshot.bodies.map { Data($0) } == [film])
    }

    @Test("a damaged part is sent again if the server verifies it")
    func damaged() async throws {
        let origin = try UploadOrigin(.tus)
        origin.set {
            $0.extensions = "creation,checksum"
            $0.fault = { number, _ in number == 3 ? .flip : nil }
        }
        _ = try await agent(origin, quick(digest: true)).send(Send(.data(film)))
        #expect(origin.snapshot.bodies.map { Data($0) } == [film])
    }

    @Test("a server that accepts no bytes ends the upload after the allowed number of attempts", arguments: kinds)
    func endless(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        origin.set {
            $0.fault = { number, request in request.method == .patch ? .cut(0) : request.method == .post ? .cut(9) : nil
            }
        }
        let error = await failure { _ = try await agent(origin, quick(tries: 3)).send(Send(.data(film))) }
        #expect((error as? ErrandError)?.isRetryable == true)
        #expect(origin.snapshot.log.count < 12 && origin.snapshot.bodies.isEmpty)
    }

    @Test("a server that forgets every upload ends it", arguments: kinds)
    func forgetful(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        origin.set {
            $0.fault = { number, request in
                request.method == .head ? .forget : request.method == .options ? nil : .cut(250_000)
            }
        }
        let error = await failure { _ = try await agent(origin).send(Send(.data(film))) }
        #expect((error as? TransferError)?.code == .changedTooOften, "\(String(describing: error))")
        #expect(origin.snapshot.bodies.isEmpty)
    }

    @Test("a refusal is the response of the call", arguments: [400, 401, 403, 413])
    func refused(status: Int) async throws {
        for kind in kinds {
            let origin = try UploadOrigin(kind)
            origin.set { $0.fault = { number, _ in number == 2 ? .respond(status) : nil } }
            let error = await failure { _ = try await agent(origin).send(Send(.data(film))) }
            #expect((error as? ErrandError)?.response?.status == status && origin.snapshot.log.count == 2)
        }
    }

    @Test("a request that may have been received isn't sent twice, unless that is allowed")
    func notTwice() async throws {
        for (method, headers, count) in [
            (HTTPMethod.post, HTTPHeaders(), 1), (.put, [:], 2), (.post, [.idempotencyKey: "k"], 2),
        ] {
            let origin = try UploadOrigin(.ordinary)
            origin.set { $0.fault = { number, _ in number == 2 ? .loseResponse : nil } }
            let send = Send(.data(film)).with { ($0.method, $0.headers) = (method, headers) }
            let error = await failure { _ = try await agent(origin).send(send) }
            #expect(origin.snapshot.bodies.count == count && (error == nil) == (count == 2))
        }
    }

    @Test("a location with another scheme is refused if it would be insecure")
    func downgrade() async throws {
        let stub = StubTransport()
        stub.on("*", response: .status(201, headers: [.location: "http://a.example/files/1", "Upload-Complete": "?0"]))
        let agent = NetworkAgent(
            baseURL: "https://a.example", transport: stub, filters: [.uploads(quick(.draft8))])
        let error = await failure { _ = try await agent.send(Send(.data(film))) }
        #expect((error as? TransferError)?.code == .unusableResponse)
    }

    @Test(
        "a location may have characters that aren't allowed in a URI, and its escapes are requested unchanged",
        arguments: [UploadOrigin.Kind.tus, .draft(8), .draft(6)])
    func writtenFreely(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        let (targets, begun) = (Log<String>(), Counter())
        origin.set {
            // tus sends the body after it has the upload's URL; the other protocols continue after a cut.
            if kind == .tus { $0.extensions = "creation" }
            $0.ending = "?key=a%20b[0]|%&c='{}'"
            $0.fault = { _, request in
                if request.method == .patch || request.method == .head { targets.add(request.target) }
                let isFirst = request.method == .post && begun.increment() == 1
                return isFirst && kind != .tus ? .cut(250_000) : nil
            }
        }
        _ = try await agent(origin).send(Send(.data(film)))
        #expect(Set(targets.all) == ["/files/1?key=a%20b%5B0%5D%7C%25&c=%27%7B%7D%27"])
        #expect(origin.snapshot.uploads.count == 1 && origin.snapshot.bodies == [Array(film)])
    }

    @Test("another origin that the server names gets the bytes without secrets")
    func elsewhere() async throws {
        let (first, second) = (try UploadOrigin(.tus), try UploadOrigin(.tus))
        second.set { $0.uploads["1"] = UploadOrigin.Upload(total: 500_000) }
        let seen = Counter()
        second.set {
            $0.fault = { _, request in
                if request.headers.contains(.authorization) { seen.increment() }
                return nil
            }
        }
        let place = second.url + "/files/1"
        first.set {
            $0.extensions = "creation"
            $0.fault = { number, _ in number == 2 ? .change([.location: place]) : nil }
        }
        let send = Send(.data(film)).with { $0.headers = [.authorization: "secret"] }
        _ = try await agent(first).send(send)
        #expect(second.snapshot.bodies.map { Data($0) } == [film] && seen.value == 0)
    }
}
