import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandTesting
import Testing

@Suite("Entries that are removed while they are sent", .endsInTime, .leakChecked) struct RemovalTests {
    @Test("a lane continues after the removed entry's request has returned, even if it ignores the cancellation")
    func order() async throws {
        let (gate, events) = (Gate(), Log<String>())
        let desk = Desk { path in
            events.add(path)
            // The task isn't a child of the delivery, so cancelling the delivery doesn't end it.
            if path == "notes/1" { _ = await Task { try await gate.wait() }.result }
            events.add("\(path) has returned")
            return .text(path)
        }
        var options = Desk.exact
        options.maximumConcurrent = 1
        let outbox = try await desk.open(options: options)
        let first = try await outbox.enqueue(Note(lane: "a", number: 1))
        try await gate.reached()
        try await outbox.enqueue(Note(lane: "a", number: 2))
        try await outbox.enqueue(Note(lane: "b", number: 3))
        #expect(try await outbox.remove(first))
        // Each stored change is followed by a look at what to send next.
        for number in 4...5 { try await outbox.enqueue(Note(lane: "c", number: number)) }
        #expect(outbox.state.entries.map(\.state) == [.waiting, .waiting, .waiting, .waiting])
        gate.open()
        try await outbox.isEmpty()
        #expect(events.all.prefix(2) == ["notes/1", "notes/1 has returned"] && desk.paths.count == 5)
        #expect(desk.delivered.all == [2, 3, 4, 5].map { "notes/\($0)" })
        await outbox.close()
    }

    @Test(
        "an entry that another process removes is cancelled, and the lane continues after that",
        arguments: [false, true])
    func byAnother(isRewritten: Bool) async throws {
        let (gate, events) = (Gate(), Log<String>())
        let desk = Desk { path in
            events.add(path)
            if path == "notes/1" {
                do { try await gate.wait() } catch {
                    events.add("cancelled")
                    throw error
                }
            }
            return .text(path)
        }
        let outbox = try await desk.open()
        let other = try await desk.enqueueOnly()
        let first = try await outbox.enqueue(Note(lane: "a", number: 1))
        try await gate.reached()
        #expect(try await other.remove(first))
        if isRewritten {
            let large = Draft(text: String(repeating: "x", count: 1_000_000))
            for _ in 0..<2 { try await other.remove(other.enqueue(large)) }
            #expect(try Data(contentsOf: desk.log).count < 1 << 20)
        }
        try await outbox.enqueue(Note(lane: "a", number: 2))
        try await outbox.isEmpty()
        #expect(events.all == ["notes/1", "cancelled", "notes/2"] && desk.delivered.all == ["notes/2"])
        gate.open()
        await outbox.close()
        await other.close()
    }

    @Test("the failure of a removed entry doesn't delay the next entry in its lane")
    func failure() async throws {
        let gate = Gate()
        let desk = Desk { path in
            guard path == "notes/1" else { return .text(path) }
            _ = await Task { try await gate.wait() }.result
            throw ErrandError(.cannotConnect, "no network")
        }
        let outbox = try await desk.open()
        let first = try await outbox.enqueue(Note(number: 1))
        try await gate.reached()
        try await outbox.enqueue(Note(number: 2))
        try await outbox.remove(first)
        gate.open()
        try await outbox.isEmpty()
        #expect(desk.delivered.all == ["notes/2"])
        await outbox.close()
    }

    @Test("a delivery whose outcome is stored isn't cancelled, so its activity succeeds")
    func outcome() async throws {
        let recorder = RecordingAccessory()
        let desk = Desk(accessories: [recorder])
        let outbox = try await desk.open()
        for number in 0..<50 { try await outbox.enqueue(Note(lane: "\(number % 7)", number: number)) }
        try await outbox.isEmpty()
        await outbox.close()
        try await recorder.waitUntilQuiet()
        let successes = recorder.records().count { record in
            if record.kind == .outbox, case .didStop(.success) = record.event { true } else { false }
        }
        #expect(successes == 50)
    }

    @Test("all entries are removed, even if another process has just enqueued one of them")
    func all() async throws {
        let desk = Desk()
        let (outbox, other) = (try await desk.enqueueOnly(), try await desk.enqueueOnly())
        try await outbox.enqueue(Note(number: 1))
        try await other.enqueue(Note(number: 2))
        try await outbox.removeAll()
        await outbox.close()
        await other.close()
        let again = try await desk.open()
        #expect(again.state.entries.isEmpty && desk.paths == [])
        await again.close()
    }
}
