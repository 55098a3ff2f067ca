import Errand
import ErrandChain
import ErrandTesting
import Testing

/// The list form, whose callbacks change the steps to come.
@Suite(.endsInTime, .leakChecked)
struct ChainListTests {
    @Test("a callback runs on the main actor before the next step, and may add steps")
    func add() async throws {
        let (log, shop) = (Log<String>(), Shop { _ in })
        let first = ChainStep(Get(1)) { response, steps in
            MainActor.assertIsolated()
            log.add("after \(response.value): \(steps.pending)")
            steps.append(
                ChainStep(Get(4)) { response, steps in
                    log.add("after \(response.value): \(steps.pending)")
                    steps.append(ChainStep(Count(5)))
                })
            steps.insert(ChainStep(Get(2), label: "two"), ChainStep(Get(3), label: "three"))
        }
        let results = try await shop.agent.run(Chain("list", steps: [first]))
        #expect(results.map(\.label) == ["Get", "two", "three", "Get", "count"])
        #expect(results.map(\.index) == [0, 1, 2, 3, 4])
        #expect(results.map { "\($0.value)" } == ["1", "2", "3", "4", "5"])
        #expect(results.last?.http?.status == 200)
        #expect(log.all == ["after 1: []", "after 4: []"])
        #expect(shop.notes.first == "chain: step 0: Get")
        #expect(shop.notes.contains("chain: step 2: three"))
    }

    @Test("a callback can remove steps that haven't started")
    func remove() async throws {
        let shop = Shop()
        let first = ChainStep(Get(1)) { _, steps in
            #expect(steps.remove("Get") == 0)
            #expect(steps.remove("skip") == 2)
            #expect(steps.pending == ["keep"])
        }
        let results = try await shop.agent.run(
            Chain(
                "list",
                steps: [
                    first, ChainStep(Get(2), label: "skip"),
                    ChainStep(Get(3), label: "keep") { _, steps in
                        #expect(steps.removeAll() == 0)
                    }, ChainStep(Get(4), label: "skip"),
                ]))
        #expect(results.map(\.label) == ["Get", "keep"])
        let short = try await shop.agent.run(
            Chain("short", steps: [ChainStep(Get(1)) { _, steps in steps.removeAll() }, ChainStep(Get(2))]))
        #expect(short.count == 1)
        #expect(shop.recording.outcomes.count == 3)
    }

    @Test("a step creates its request from the previous value")
    func after() async throws {
        let results = try await Shop().agent.run(
            Chain(
                "list",
                steps: [
                    ChainStep(Count(20)), ChainStep(after: Int.self) { Count($0 + 1) },
                    ChainStep(after: Int.self, label: "last") { Get($0 * 2) },
                ]))
        #expect(results.last?.value as? String == "42")
        #expect(results.map(\.label) == ["count", "Count", "last"])
    }

    @Test("if a step receives a value of the wrong type, it fails with an error that names the expected type")
    func mismatch() async throws {
        let shop = Shop()
        let wrong = await #expect(throws: ChainInputError.self) {
            try await shop.agent.run(
                Chain("list", steps: [ChainStep(Get(1)), ChainStep(after: Int.self) { Get($0) }]))
        }
        #expect(wrong?.description == "Get needs Int from the previous step, got String")
        let nothing = await #expect(throws: ChainInputError.self) {
            try await shop.agent.run(Chain("list", steps: [ChainStep(after: Int.self, label: "a") { Get($0) }]))
        }
        #expect(nothing?.description == "a needs Int from the previous step, but it is the first step")
        #expect(shop.recording.outcomes == ["success"])
    }

    @Test(
        "stopping inside a callback is a cancellation, never a success, even in the last callback", arguments: [1, 3])
    func stopInside(_ place: Int) async throws {
        let shop = Shop()
        let list = (1...3).map { id in
            ChainStep(Get(id)) { _, steps in if id == place { steps.cancel() } }
        }
        let handle = shop.agent.start(running: Chain("list", steps: list))
        let error = await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(error?.isCancelled == true)
        #expect(shop.recording.outcomes.count == place)
        #expect(shop.recording.problems() == [])
        #expect(shop.notes.count == place, "nothing is said of a step that does not begin")
    }

    @Test("a cancelled chain doesn't create the requests of later steps")
    func makesNothing() async throws {
        let made = Log<String>()
        let list = [
            ChainStep(Get(1)) { _, steps in steps.cancel() },
            ChainStep(after: String.self) { value in
                made.add(value)
                return Get(2)
            },
        ]
        let error = await #expect(throws: ErrandError.self) { try await Shop().agent.run(Chain("list", steps: list)) }
        #expect(error?.isCancelled == true && made.all == [])
    }

    @Test("an error that a callback throws ends the chain")
    func callbackThrows() async throws {
        let shop = Shop()
        await #expect(throws: Refused.self) {
            try await shop.agent.run(
                Chain("list", steps: [ChainStep(Get(1)) { _, _ in throw Refused() }, ChainStep(Get(2))]))
        }
        #expect(shop.recording.outcomes == ["success"])
    }

    @Test("an editor has no effect outside of its callback, and a chain's list can't be changed otherwise")
    func keptEditor() async throws {
        let kept = Kept<ChainEditor>()
        let shop = Shop { id in
            guard id == 2, let editor = kept.value else { return }
            #expect(!editor.append(ChainStep(Get(9))))
            #expect(!editor.insert(ChainStep(Get(9))))
            #expect(editor.removeAll() == 0)
        }
        let chain = Chain(
            "list",
            steps: (1...3).map { id in
                ChainStep(Get(id)) { _, steps in kept.value = steps }
            })
        #expect(try await shop.agent.run(chain).count == 3)
        #expect(kept.value?.append(ChainStep(Get(9))) == false)
        #expect(try await shop.agent.run(chain).count == 3)
        kept.value = nil
    }

    @Test("the fraction counts steps, and doesn't decrease when steps are added")
    func progress() async throws {
        let recording = RecordingAccessory()
        let first = ChainStep(Get(1)) { _, _ in }
        let second = ChainStep(Get(2)) { _, steps in (3...6).forEach { steps.append(ChainStep(Get($0))) } }
        let handle = Shop().agent.start(
            running: Chain("list", steps: [first, second]), options: CallOptions(accessories: [recording]))
        _ = try await handle.value
        let reported = recording.records().compactMap { record in
            if case .transport(.progress(let progress)) = record.event { progress.fraction } else { nil }
        }
        #expect(reported == [0.5, 0.5, 0.5, 4.0 / 6, 5.0 / 6, 1])
        #expect(handle.progress.fraction == 1)
    }
}
