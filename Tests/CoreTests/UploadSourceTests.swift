import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("Sources of uploads", .leakChecked) struct UploadSourceTests {
    private final class Failing: HTTPBodySource {
        let error: any Error
        init(_ error: any Error) { self.error = error }
        func nextChunk() async throws -> Data? { throw error }
        func cancel() {}
    }

    private func end(of body: RequestBody) async throws -> (ErrandError, ActivityOutcome?) {
        // A stub reads the body of a request that it records.
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")))
        let handle = agent.start(
            Plain {
                $0.method = .put
                $0.body = body
            })
        do { _ = try await handle.value } catch { return (try #require(error as? ErrandError), handle.outcome) }
        throw CancellationError()
    }

    @Test("an upload fails, and isn't cancelled, if its source was cancelled elsewhere")
    func cancelled() async throws {
        for error in [CancellationError(), ErrandError(.cancelled, "the other transfer was cancelled")] as [any Error] {
            for body in [
                RequestBody.stream(HTTPBody(source: Failing(error))),
                .stream { HTTPBody(source: Failing(error)) }, .stream { throw error },
            ] {
                let (failure, outcome) = try await end(of: body)
                #expect(failure.code == .encodingFailed && failure.underlying != nil && !failure.isRetryable)
                #expect(name(outcome) == "failure")
            }
        }
    }

    @Test("the chunks of any sequence form a body, which is read again for each attempt and keeps its length")
    func sequence() async throws {
        let body = RequestBody.stream(length: 4) {
            AsyncStream<Data> { sequence in
                sequence.yield(Data("ab".utf8))
                sequence.yield(Data("cd".utf8))
                sequence.finish()
            }
        }
        #expect(body.length == 4 && body.isReplayable)
        for _ in 1...2 { #expect(try await body.open().collect(upTo: 10) == Data("abcd".utf8)) }
        let short = RequestBody.stream(length: 5) { AsyncStream<Data> { $0.finish() } }
        #expect(try await end(of: short).0.code == .truncated)
        let failing = RequestBody.stream {
            AsyncThrowingStream<Data, any Error> { $0.finish(throwing: CancellationError()) }
        }
        #expect(try await end(of: failing).0.code == .encodingFailed)
    }

    @Test("a source that loses its own connection doesn't count as a lost connection of the request")
    func connection() async throws {
        let lost = ErrandError(
            .connectionLost, "elsewhere",
            response: HTTPResponse(url: try #require(URL(string: "https://other.example")), status: 200))
        let (failure, _) = try await end(of: .stream { HTTPBody(source: Failing(lost)) })
        #expect(failure.code == .encodingFailed && failure.response == nil && !failure.isRetryable)
    }

    @Test(
        "a call that is cancelled while its source is read ends as cancelled, even if the source throws another error")
    func byTheCall() async throws {
        final class Waiting: HTTPBodySource {
            let gate: Gate
            init(_ gate: Gate) { self.gate = gate }
            func nextChunk() async throws -> Data? {
                try await gate.wait()
                return nil
            }
            func cancel() {}
        }
        let gate = Gate()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")))
        let handle = agent.start(
            Plain {
                $0.method = .put
                $0.body = .stream { HTTPBody(source: Waiting(gate)) }
            })
        try await gate.reached()
        handle.cancel()
        #expect(await code { try await handle.value } == .cancelled)
        guard case .cancelled(.handle)? = handle.outcome else { return #expect(Bool(false), "not by the handle") }
    }

    @Test("a directory or a device as a body fails before anything is sent")
    func irregularFile() async throws {
        let stub = StubTransport(.text("sent"))
        let agent = NetworkAgent(baseURL: base, transport: stub)
        for file in [URL.temporaryDirectory, URL(filePath: "/dev/zero")] {
            #expect(await code { try await agent.send(Call<Void>(.post, "x", body: .file(file))) } == .fileFailed)
        }
        #expect(stub.received.isEmpty)
    }

    @Test(
        "a body fails if its length differs from the announced length, with every kind of source, even if it is empty")
    func announced() async throws {
        let file = URL.temporaryDirectory.appending(path: "announced-\(UInt64.random(in: 0 ... .max))")
        try Data([1]).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for length in [0, 2] as [Int64] {
            let bodies: [RequestBody] = [
                .stream(length: length) { HTTPBody(Data([1])) },
                .stream(length: length) { HTTPBody(source: OneByte()) },
                .stream(length: length) { HTTPBody(length: 1) { nil } },
                .stream(length: length) { HTTPBody(file: file) },
                .stream(length: length, openAt: { _ in HTTPBody(Data([1])) }),
                .stream(length: length) {
                    AsyncStream<Data> {
                        $0.yield(Data([1])); $0.finish()
                    }
                },
                .stream(HTTPBody(length: length, source: OneByte())),
            ]
            for (index, body) in bodies.enumerated() {
                let failure = try await end(of: body).0
                let codes: [ErrandError.Code] = [.invalidRequest, .truncated, .invalidResponse]
                #expect(codes.contains(failure.code), "\(length) \(index) \(failure)")
            }
        }
    }

    private final class OneByte: HTTPBodySource {
        private let wasRead = Atomic(false)
        func nextChunk() async throws -> Data? {
            wasRead.exchange(true, ordering: .relaxed) ? nil : Data([1])
        }
        func cancel() {}
    }

    @Test("a source that announced no bytes and doesn't end is waited for until the request's timeout")
    func endless() async throws {
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), time: time)
        let handle = agent.start(
            Plain {
                $0.method = .put
                $0.timeout = .seconds(5)
                $0.body = .stream(length: 0) { AsyncStream<Data> { _ in } }
            })
        try await time.waitForSleepers()
        time.advance(by: .seconds(5))
        let error = await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(error?.code == .timedOut)
    }
}
