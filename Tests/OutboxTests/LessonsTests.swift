import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandTesting
import Testing

/// Faults that users of other queues have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other outboxes", .endsInTime, .leakChecked) struct OutboxLessonsTests {
    @Test("an entry enqueued while a request is sent comes after it, even if that request fails and is sent again")
    func enqueuedWhileSending() async throws {
        let (gate, count) = (Gate(), Counter())
        let desk = Desk { path in
            guard path == "notes/1", count.increment() == 1 else { return .text(path) }
            try await gate.wait()
            return .status(503)
        }
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(number: 1))
        try await gate.reached()
        for number in 2...5 { try await outbox.enqueue(Note(number: number)) }
        gate.open()
        try await outbox.reached { $0.entries.first?.failures == 1 }
        try await outbox.enqueue(Note(number: 6))
        desk.time.advance(by: .seconds(1))
        try await outbox.isEmpty()
        #expect(desk.paths == [1, 1, 2, 3, 4, 5, 6].map { "notes/\($0)" })
        await outbox.close()
    }

    @Test("a network that is reported available repeatedly doesn't cause a request to be sent twice")
    func reportedOften() async throws {
        let (gate, offline) = (Gate(), Gate())
        let desk = Desk { path in
            if !offline.isOpen { throw ErrandError(.cannotConnect, "no network") }
            try await gate.wait()
            return .text(path)
        }
        let outbox = try await desk.open()
        for number in 0..<8 { try await outbox.enqueue(Note(lane: "\(number)", number: number)) }
        try await outbox.reached { $0.entries.contains { $0.failures == 1 } }
        let before = desk.paths.count
        offline.open()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    outbox.networkIsBack()
                    outbox.resume()
                }
            }
        }
        try await gate.reached()
        for _ in 0..<50 { outbox.networkIsBack() }
        gate.open()
        try await outbox.isEmpty()
        let sent = desk.paths.dropFirst(before)
        #expect(sent.count == 8 && Set(sent).count == 8)
        await outbox.close()
    }

    @Test("a network that is reported available too early costs an attempt, and the entry is sent later")
    func reportedTooEarly() async throws {
        let online = Gate()
        let desk = Desk { path in
            if !online.isOpen { throw ErrandError(.cannotConnect, "no network") }
            return .text(path)
        }
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(number: 1))
        func waits(after attempts: Int) async throws {
            try await outbox.reached { state in
                guard desk.paths.count == attempts, case .delayed? = state.entries.first?.state else { return false }
                return true
            }
        }
        for attempts in 1...4 {
            try await waits(after: attempts)
            outbox.networkIsBack()
        }
        try await waits(after: 5)
        guard case .delayed(let instant)? = outbox.state.entries.first?.state else {
            return _ = Issue.record("\(outbox.state.entries)")
        }
        online.open()
        desk.time.advance(to: instant)
        try await outbox.isEmpty()
        #expect(desk.paths.count == 6 && Set(desk.keys.all).count == 1)
        await outbox.close()
    }
}
