import Errand
import ErrandBatch
import ErrandChain
import ErrandTesting
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct ChainTests {
    @Test("B and C are created from the response of A, and D from the responses of both")
    func checkout() async throws {
        let shop = Shop()
        let response = try await shop.agent.run(
            Chain("checkout") { steps in
                let a = try await steps.send(Count(1)).value
                let (b, c) = try await steps.run(Batch(Get(a + 1), Count(a + 2)))
                return try await steps.send(Get(c.value * 100 + (Int(b.value) ?? 0))).value
            })
        #expect(response == "302")
        #expect(shop.notes == ["chain: step 0: count", "chain: step 1: batch", "chain: step 2: Get"])
        let records = shop.recording.records()
        let chain = try #require(records.first)
        #expect(chain.kind == .chain && chain.label == "checkout" && chain.name == "willStart")
        let batch = try #require(records.first { $0.kind == .batch })
        #expect(batch.parent == chain.activity)
        let parents = records.filter { $0.kind == .request && $0.name == "willStart" }.map(\.parent)
        #expect(parents == [chain.activity, batch.activity, batch.activity, chain.activity])
        #expect(shop.recording.problems() == [])
    }

    @Test("three steps without callbacks run one after another, in order")
    func order() async throws {
        let shop = Shop()
        _ = try await shop.agent.run(
            Chain("three") { steps in for id in 1...3 { _ = try await steps.send(Get(id)) } })
        let names = shop.recording.records().filter { $0.kind == .request }.map(\.name)
        let each = ["willStart", "built", "sending", "received", "willStop", "didStop"]
        #expect(names == each + each + each)
        #expect(shop.recording.names(.chain) == ["willStart", "willStop", "didStop"])
        #expect(shop.recording.records().last?.kind == .chain)
    }

    @Test("the first failure ends the chain, its error names the step, and later steps don't start")
    func failure() async throws {
        let shop = Shop { id in if id == 2 { throw ErrandError(.connectionLost, "gone") } }
        let error = await #expect(throws: ChainError.self) {
            try await shop.agent.run(
                Chain("checkout") { steps in
                    for id in 1...5 { _ = try await steps.send(Get(id)) }
                })
        }
        #expect(error?.chain == "checkout")
        #expect(error?.index == 1)
        #expect(error?.label == "Get")
        #expect((error?.request as? Get)?.id == 2)
        #expect((error?.underlying as? ErrandError)?.code == .connectionLost)
        #expect(error?.isRetryable == true)
        #expect(error.map { "\($0)" }?.hasPrefix("checkout, step 1 (Get): connectionLost: ") == true)
        #expect(shop.recording.outcomes == ["success", "failure"])
        #expect(shop.recording.problems() == [])
    }

    @Test("a failed step may be caught, and the body's own error arrives unchanged")
    func ownErrors() async throws {
        struct OutOfStock: Error, Equatable {}
        let shop = Shop { id in if id == 2 { throw ErrandError(.connectionLost, "gone") } }
        let chain = Chain("checkout") { steps in
            do { return try await steps.send(Get(2)).value } catch let error as ErrandError {
                #expect(error.code == .connectionLost)
                return try await steps.send(Get(3)).value
            }
        }
        #expect(try await shop.agent.run(chain) == "3")
        await #expect(throws: OutOfStock()) {
            try await shop.agent.run(
                Chain("checkout") { steps in
                    _ = try? await steps.send(Get(2))
                    throw OutOfStock()
                })
        }
        let own = await #expect(throws: ErrandError.self) {
            try await shop.agent.run(
                Chain("checkout") { steps in
                    _ = try? await steps.send(Get(2))
                    throw ErrandError(.invalidRequest, "no such thing")
                })
        }
        #expect(own?.code == .invalidRequest)
    }

    @Test("if two steps fail with the same description, the error names the step whose error the body threw")
    func identity() async throws {
        let second = Gate()
        let shop = Shop { id in
            if id == 2 { second.open() } else { try await second.wait() }
            throw ErrandError(.connectionLost, "gone")
        }
        for variant in ["as it is", "cast", "in a result"] {
            let error = await #expect(throws: ChainError.self) {
                try await shop.agent.run(
                    Chain("both") { steps in
                        async let first = steps.send(Get(1))
                        async let other = steps.send(Get(2))
                        let result: Result<String, any Error>
                        do { result = .success(try await first.value) } catch { result = .failure(error) }
                        _ = try? await other
                        switch variant {
                        case "cast": do { return try result.get() } catch let error as ErrandError { throw error }
                        case "in a result": return try result.get()
                        default: if case .failure(let error) = result { throw error }
                        }
                        return ""
                    })
            }
            #expect((error?.request as? Get)?.id == 1, "\(variant)")
        }
    }

    @Test("if the body throws its own error that equals a caught step's error, it counts as the body's own")
    func alike() async throws {
        final class Silent: Error {}
        let agent = FakeAgent { _, _ in throw Silent() }
        await #expect(throws: Silent.self) {
            try await agent.run(
                Chain("own") { steps in
                    _ = try? await steps.send(Get(1))
                    throw Silent()
                })
        }
        let named = await #expect(throws: ChainError.self) {
            try await agent.run(Chain("own") { steps in _ = try await steps.send(Get(1)) })
        }
        #expect(named?.index == 0)
        let shop = Shop { _ in throw ErrandError(.connectionLost, "gone") }
        let own = await #expect(throws: ErrandError.self) {
            try await shop.agent.run(
                Chain("own") { steps in
                    _ = try? await steps.send(Get(1))
                    throw ErrandError(.connectionLost, "gone")
                })
        }
        #expect(own?.code == .connectionLost)
    }

    @Test("an error of the body differs from a step's by its content; without content, it counts as the step's")
    func values() async throws {
        struct Numbered: Error, Equatable { let number: Int }
        struct Described: Error { let text: String }
        struct Silent: Error {}
        func end(_ step: any Error, _ own: any Error) async -> (any Error)? {
            let agent = FakeAgent { _, _ in throw step }
            let chain = Chain("own") { steps in
                _ = try? await steps.send(Get(1))
                throw own
            }
            do { try await agent.run(chain) } catch { return error }
            return nil
        }
        #expect(await end(Numbered(number: 1), Numbered(number: 2)) is Numbered)
        #expect(await end(Numbered(number: 1), Numbered(number: 1)) is ChainError)
        #expect(await end(Described(text: "a"), Described(text: "b")) is Described)
        #expect(await end(Described(text: "a"), Described(text: "a")) is ChainError)
        #expect(await end(Silent(), Described(text: "a")) is Described)
        #expect(await end(Silent(), Silent()) is ChainError)
    }

    @Test("failed steps and failed parts are numbered the same way, and keep the server's response")
    func counting() async throws {
        struct Refusal: LocalizedError {
            let errorDescription: String?
        }
        let agent = FakeAgent { request, _ in
            if (request as? Get)?.id == 2 { throw Refusal(errorDescription: "sold out since noon") }
            return "1"
        }
        let chain = await #expect(throws: ChainError.self) {
            try await agent.run(Chain("c", Get(1)).then { _ in Get(2) })
        }
        let batch = await #expect(throws: BatchError.self) { try await agent.run(Batch([Get(1), Get(2)])) }
        #expect(chain?.index == 1 && batch?.index == 1)
        #expect(chain?.description == "c, step 1 (Get): sold out since noon")
        #expect(batch?.description == "partFailed: part 1 (Get): sold out since noon")
        #expect(chain?.localizedDescription == "sold out since noon")
        #expect(batch?.localizedDescription == "sold out since noon")
        #expect((batch?.underlying as? Refusal)?.errorDescription == "sold out since noon")
        let stub = NetworkAgent(
            baseURL: "https://shop.example", transport: .stub(.text("sold out since noon", status: 409)))
        let step = await #expect(throws: ChainError.self) { try await stub.run(Chain("c", Get(1))) }
        let part = await #expect(throws: BatchError.self) { try await stub.run(Batch([Get(1)])) }
        #expect(step?.response?.data == Data("sold out since noon".utf8))
        #expect(part?.response?.data == Data("sold out since noon".utf8) && part?.response?.status == 409)
    }

    @Test("a call that names the composite itself as its parent is a step of a chain and a part of a batch")
    func parentage() async throws {
        let shop = Shop()
        let tags = Kept<[String]>()
        _ = try await shop.agent.run(
            Chain("named") { steps in try await steps.send(Get(1), options: CallOptions(parent: steps.activity)) })
        #expect(shop.notes == ["chain: step 0: Get"])
        let whole = Kept<Activity>()
        let agent = FakeAgent { _, options in
            tags.value = (tags.value ?? []) + [options.tags[Screen.self]]
            whole.value = options.parent
            return "1"
        }
        let batch = Batch(of: [1]) { agent, _ in
            _ = try await agent.send(Get(1))
            return try await agent.send(Get(2), options: CallOptions(parent: whole.value)).value
        }
        _ = try await agent.run(batch, options: CallOptions(tags: Tags().with(Screen.self, "feed")))
        #expect(whole.value?.kind == .batch && tags.value == ["feed", "feed"])
    }

    @Test("the description of a failure shows its cause's description, and no stored value of the cause")
    func description() async throws {
        let agent = FakeAgent { _, _ in throw Refused() }
        let error = await #expect(throws: ChainError.self) {
            try await agent.run(Chain("checkout", Get(1)))
        }
        #expect(error.map { "\($0)" } == "checkout, step 0 (Get): Refused")
        #expect(error.map { String(reflecting: $0) } == "checkout, step 0 (Get): Refused")
    }

    @Test("each linked request is created from the previous response, outside of the requests")
    func links() async throws {
        let shop = Shop { id in if id == 9 { throw Refused() } }
        let chain = Chain("linked", Count(1)).then { Count($0.value + 10) }.then { Get($0.value * 2) }
        let response = try await shop.agent.run(chain)
        #expect(response.value == "22")
        #expect(response.http.status == 200)
        let error = await #expect(throws: ChainError.self) {
            try await shop.agent.run(Chain("linked", Count(8)).then { Count($0.value + 1) }.then { Get($0.value) })
        }
        #expect(error?.index == 1)
        await #expect(throws: Refused.self) {
            try await shop.agent.run(Chain("linked", Count(1)).then { _ -> Get in throw Refused() })
        }
    }

    @Test("a chain sent again, at the same time or after a failure, is a separate activity")
    func again() async throws {
        let fails = Gate()
        let shop = Shop { id in if id == 2, !fails.isOpen { throw ErrandError(.connectionLost, "gone") } }
        let chain = Chain("again", Count(1)).then { Get($0.value + 1) }
        await #expect(throws: ChainError.self) { try await shop.agent.run(chain) }
        fails.open()
        async let first = shop.agent.run(chain)
        async let second = shop.agent.run(chain)
        #expect(try await (first.value, second.value) == ("2", "2"))
        #expect(shop.recording.names(.chain).filter { $0 == "didStop" }.count == 3)
        #expect(shop.recording.problems() == [])
    }

    @Test("a chain has tags and a label like a request, its steps have its tags, and it isn't a request")
    func tags() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let options = CallOptions(tags: Tags().with(Screen.self, "profile"), label: "renamed")
        let handle = shop.agent.start(running: Chain("tagged", Get(1)), options: options)
        try await gate.reached()
        #expect(handle.activity.label == "renamed")
        #expect(shop.agent.activities.count == 2)
        #expect(shop.agent.activities.allSatisfy { $0.tags[Screen.self] == "profile" })
        gate.open()
        _ = try await handle.value
        let chain: Any = Chain("tagged", Get(1))
        #expect(!(chain is any Request))
    }

    @Test("it runs on your own agent that only implements send")
    func fake() async throws {
        let agent = FakeAgent { request, options in
            #expect(options.parent?.kind == .chain || options.parent?.kind == .batch)
            if let get = request as? Get { return "\(get.id)" }
            return (request as? Count)?.id ?? 0
        }
        let response = try await agent.run(
            Chain("fake") { steps in
                let a = try await steps.send(Count(1)).value
                let (b, c) = try await steps.run(Batch(Get(a + 1), Get(a + 2)))
                return b.value + c.value
            })
        #expect(response == "23")
        #expect(try await agent.run(Chain("list", steps: [ChainStep(Get(1)), ChainStep(Get(2))])).count == 2)
    }

    @Test("a nested chain's failure is named from the outside in")
    func nestedFailure() async throws {
        let shop = Shop { id in if id == 7 { throw ErrandError(.timedOut, "late") } }
        let error = await #expect(throws: ChainError.self) {
            try await shop.agent.run(
                Chain("outer") { steps in
                    _ = try await steps.send(Get(1))
                    return try await steps.run(Chain("inner", Count(2)).then { Get($0.value + 5) })
                })
        }
        #expect(error?.index == 1 && error?.label == "inner")
        let inner = error?.underlying as? ChainError
        #expect(inner?.index == 1 && inner?.label == "Get")
        #expect(error?.isRetryable == true)
        #expect(shop.recording.problems() == [])
    }

    @Test("a failed step that is a batch, or a chain with a batch, shows its response and whether it's retryable")
    func batchFailure() async throws {
        let stub = StubTransport { request in
            request.item == 7 ? .text("down").status(503) : request.item == 8 ? .text("gone").status(404) : .json("1")
        }
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub)
        func failure(_ steps: Chain<String>) async throws -> ChainError? {
            await #expect(throws: ChainError.self) { try await agent.run(steps) }
        }
        let direct = Chain("direct") { steps in
            _ = try await steps.send(Get(1))
            return try await steps.run(Batch([Get(2), Get(7)])).map(\.value).joined()
        }
        let nested = Chain("nested") { steps in
            try await steps.run(
                Chain("inner") { steps in try await steps.run(Batch(Get(7), Get(3))).0.value })
        }
        for chain in [direct, nested] {
            let error = try await failure(chain)
            #expect(error?.response?.status == 503 && error?.response?.data == Data("down".utf8))
            #expect(error?.isRetryable == true)
        }
        let final = try await failure(Chain("final") { steps in try await steps.run(Batch(Get(8), Get(1))).0.value })
        #expect(final?.response?.status == 404 && final?.isRetryable == false)
        // The reverse: a batch with a chain that fails.
        let batch = await #expect(throws: BatchError.self) {
            try await agent.run(Batch(of: [7]) { agent, id in try await agent.run(Chain("part", Get(id))).value })
        }
        #expect(batch?.response?.status == 503 && batch?.isRetryable == true)
    }

    @Test("the bytes of the steps are added up, and never decrease")
    func progress() async throws {
        let stub = StubTransport { _ in
            StubResponse.json("1").reporting(
                .progress(TransferProgress(received: 40)), .progress(TransferProgress(received: 10)))
        }
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub)
        let recording = RecordingAccessory()
        let (whole, step) = (Log<String>(), Log<String>())
        let options = CallOptions(accessories: [recording], progress: { whole.add("\($0.received)") })
        let handle = agent.start(
            running: Chain("bytes") { steps in
                _ = try await steps.send(
                    Count(1), options: CallOptions(progress: { step.add("\($0.received)") }))
                _ = try await steps.start(Count(2)).value
            }, options: options)
        _ = try await handle.value
        #expect(whole.all == ["40", "40", "80", "80"])
        #expect(step.all == ["40", "40"])
        let reported = recording.records().compactMap { record in
            if case .transport(.progress(let progress)) = record.event { progress.received } else { nil }
        }
        #expect(reported == [40, 40, 80, 80])
        #expect(handle.progress.received == 80)
        #expect(handle.progress.fraction == nil)
    }
}
