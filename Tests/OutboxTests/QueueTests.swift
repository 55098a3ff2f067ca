import Errand
import ErrandEssentials
import Foundation
import Testing

@testable import ErrandOutbox

/// Compares the pure decisions with a slow, obvious model, over random operations and restarts.
@Suite("The queue of an outbox", .endsInTime) struct QueueTests {
    private static let operations = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 3_000 : 100_000

    /// The expected list of entries.
    private struct Model {
        struct Item: Equatable {
            let id: UInt64
            let lane: String
            var key: String?
            var value: String
            var dependencies: Set<UInt64>
            var isOrphaned = false
            var isBegun = false
        }

        var items: [Item] = []
        var next: UInt64 = 1

        func first(of lane: String) -> Item? { items.first { $0.lane == lane } }

        mutating func remove(_ id: UInt64, wasSent: Bool) {
            items.removeAll { $0.id == id }
            for index in items.indices where items[index].dependencies.remove(id) != nil {
                if !wasSent { items[index].isOrphaned = true }
            }
        }
    }

    private struct Machine {
        var state = OutboxEngine.State()
        var bytes = OutboxFormat.prefix

        mutating func change(_ change: OutboxChange) -> UInt64? {
            var plan = OutboxPlan(state.queue)
            let isAdded = plan.add(change, to: state.queue)
            #expect(isAdded)
            plan.complete(OutboxOptions()) { value(of: $0) }
            let (records, steps) = plan.records()
            for step in steps { state.take(step, at: Int64(bytes.count)) }
            bytes += records
            return try? steps.first?.result.get()
        }

        func value(of entry: StoredEntry) -> Data {
            let start = Int(entry.extent.offset)
            return entry.value(in: Data(bytes[start..<(start + entry.extent.length)]))
        }

        /// Reads the whole log again, optionally rewriting it first.
        mutating func restart(rewriting: Bool) throws {
            if rewriting {
                var new = OutboxFormat.prefix
                OutboxFormat.add(.next, id: state.queue.next, to: &new)
                for entry in state.queue.entries.values.sorted(by: { $0.id < $1.id }) {
                    OutboxFormat.add(.put, id: entry.id, payload: entry.payload(value(of: entry)), to: &new)
                }
                bytes = new
            }
            state = OutboxEngine.State()
            var scanner = OutboxScanner(from: Int64(OutboxFormat.prefix.count), size: Int64(bytes.count))
            let bytes = bytes
            while let item = try scanner.next({ count, offset in Data(bytes[Int(offset)...].prefix(count)) }) {
                state.receive(item)
            }
            #expect(state.damage.isEmpty && scanner.validEnd == Int64(bytes.count))
        }
    }

    @Test(
        "random operations and restarts never lose an entry or reorder a lane", arguments: [1, 2, 3])
    func oracle(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        var (machine, model) = (Machine(), Model())
        // The lanes of the deliveries that haven't ended. Their entries may have been removed.
        var running: [UInt64: String] = [:]
        // Entries that failed or were refused and haven't ended.
        var decided: Set<UInt64> = []
        var (delayed, stopped): ([String: ContinuousClock.Instant], Set<String>) = ([:], [])
        var now = ContinuousClock.now
        var lastSent: [String: UInt64] = [:]
        for step in 0..<Self.operations {
            switch random.below(model.items.count > 40 ? 16 : 12) {
            case 0...3:
                let (lane, value) = ("\(random.below(4))", "v\(step)")
                let key = random.chance(3) ? "k" : nil
                let after = (0..<random.below(3)).compactMap { _ in
                    model.items.isEmpty ? nil : random.pick(model.items).id
                }
                let new = NewEntry(
                    name: "n", lane: lane, value: Data(value.utf8), enqueued: Date(), expiry: nil, replacementKey: key,
                    dependencies: after, merge: { $0 + Data("+\(value)".utf8) })
                let id = machine.change(.add(new))
                let old = model.items.lastIndex { item in
                    key != nil && item.lane == lane && item.key == key && !item.isBegun
                        && after.allSatisfy { $0 < item.id }
                }
                // Only the newest entry of a slot is replaced.
                let newest = model.items.lastIndex { key != nil && $0.lane == lane && $0.key == key }
                if let old, old == newest {
                    #expect(id == model.items[old].id)
                    model.items[old].value += "+\(value)"
                    model.items[old].dependencies.formUnion(after)
                    if model.first(of: lane)?.id == id, let id, running[id] == nil || decided.contains(id) {
                        (delayed[lane], stopped) = (nil, stopped.subtracting([lane]))
                    }
                } else {
                    #expect(id == model.next)
                    model.items.append(
                        .init(id: model.next, lane: lane, key: key, value: value, dependencies: Set(after)))
                    model.next += 1
                }
            case 4...9:
                let ready = model.items.filter { item in
                    model.first(of: item.lane)?.id == item.id && !stopped.contains(item.lane)
                        && (delayed[item.lane] ?? now) <= now && (item.dependencies.isEmpty || item.isOrphaned)
                        && !running.values.contains(item.lane)
                }
                let taken = machine.state.queue.takeNext(at: now, maximumConcurrent: 3)
                #expect(taken?.id == (running.count < 3 ? ready.first?.id : nil))
                guard let id = taken?.id, let item = model.items.first(where: { $0.id == id }) else { break }
                running[id] = item.lane
                delayed[item.lane] = nil
                if item.key != nil, !item.isBegun {
                    _ = machine.change(.mark(.begun, id))
                    model.items[try #require(model.items.firstIndex { $0.id == id })].isBegun = true
                }
            case 10, 11, 14, 15:
                guard let id = running.keys.min() else { break }
                let item = model.items.first { $0.id == id }
                if decided.remove(id) != nil || item == nil {
                    running[id] = nil
                    machine.state.queue.ended(id)
                    break
                }
                guard let item else { break }
                let index = try #require(model.items.firstIndex { $0.id == id })
                switch random.below(9) {
                case 3:
                    if item.key != nil {
                        _ = machine.change(.mark(.released, id))
                        model.items[index].isBegun = false
                    }
                    running[id] = nil
                    machine.state.queue.ended(id)
                case 4:
                    let new = NewEntry(
                        name: "n", lane: "other", value: Data("e\(step)".utf8), enqueued: Date(), expiry: nil,
                        replacementKey: item.key, dependencies: [], merge: { $0 })
                    _ = machine.change(.edit(id, new))
                    decided.insert(id)
                    model.items[index] = .init(
                        id: id, lane: item.lane, key: item.key, value: "e\(step)", dependencies: [])
                case 0:
                    let wait = now.advanced(by: .seconds(random.below(5)))
                    machine.state.queue.delay(id, until: wait, error: nil)
                    delayed[item.lane] = wait
                    decided.insert(id)
                case 1:
                    machine.state.queue.stop(id, error: nil)
                    stopped.insert(item.lane)
                    decided.insert(id)
                case 2:
                    _ = machine.change(.remove(id))
                    model.remove(id, wasSent: false)
                default:
                    #expect(lastSent[item.lane] ?? 0 < id)
                    lastSent[item.lane] = id
                    _ = machine.change(.mark(.sent, id))
                    model.remove(id, wasSent: true)
                }
            case 12:
                now = now.advanced(by: .seconds(1))
                if let lane = stopped.first {
                    machine.state.queue.resume(lane)
                    stopped.remove(lane)
                    delayed[lane] = nil
                }
            default:
                if random.chance(3) {
                    try machine.restart(rewriting: random.chance(2))
                    (running, decided, delayed, stopped) = ([:], [], [:], [])
                } else if let item = model.items.isEmpty ? nil : random.pick(model.items) {
                    let wasFirst = model.first(of: item.lane)?.id == item.id
                    _ = machine.change(.remove(item.id))
                    model.remove(item.id, wasSent: false)
                    decided.remove(item.id)
                    if wasFirst || model.first(of: item.lane) == nil {
                        stopped.remove(item.lane)
                        delayed[item.lane] = nil
                    }
                }
            }
            try Self.compare(machine, model)
        }
    }

    @Test("after failures without a server, only one entry is sent, and the others wait until it has ended")
    func attempt() {
        var (machine, now) = (Machine(), ContinuousClock.now)
        for lane in ["a", "b", "c"] {
            _ = machine.change(
                .add(
                    NewEntry(
                        name: "n", lane: lane, value: Data(), enqueued: Date(), expiry: nil, replacementKey: nil,
                        dependencies: [], merge: { $0 })))
        }
        func next() -> UInt64? { machine.state.queue.takeNext(at: now, maximumConcurrent: 2)?.id }
        func fail(_ id: UInt64) {
            machine.state.queue.delay(id, until: now.advanced(by: .seconds(1)), error: nil, reachedNoServer: true)
        }
        #expect([next(), next(), next()] == [1, 2, nil])
        fail(1)
        fail(2)
        #expect(machine.state.queue.failures(of: 3) == 1)
        now = now.advanced(by: .seconds(1))
        #expect(next() == nil, "neither has ended")
        machine.state.queue.ended(1)
        #expect(next() == nil && machine.state.queue.nextWake() == nil, "the second has not ended")
        machine.state.queue.ended(2)
        #expect([next(), next()] == [1, nil])
        #expect(machine.state.queue.nextWake() == nil)
        fail(1)
        #expect(machine.state.queue.failures(of: 3) == 2)
        machine.state.queue.ended(1)
        #expect(machine.state.queue.nextWake() == now.advanced(by: .seconds(1)))
        machine.state.queue.reachedServer()
        #expect([next(), next()] == [2, 3])
    }

    @Test("an outbox that only enqueues keeps only its entries in memory")
    func bounded() {
        var machine = Machine()
        for number in 0..<2_000 {
            let new = NewEntry(
                name: "n", lane: "\(number)", value: Data(), enqueued: Date(), expiry: nil, replacementKey: nil,
                dependencies: [], merge: { $0 })
            if let id = machine.change(.add(new)) { _ = machine.change(.remove(id)) }
        }
        #expect(machine.state.queue.notedCount < 100 && machine.state.queue.lanes.isEmpty)
    }

    private static func compare(_ machine: Machine, _ model: Model) throws {
        let found = machine.state.queue.entries.values.sorted { $0.id < $1.id }.map { entry in
            Model.Item(
                id: entry.id, lane: entry.lane, key: entry.replacementKey,
                value: String(decoding: machine.value(of: entry), as: UTF8.self),
                dependencies: Set(entry.dependencies), isOrphaned: entry.isOrphaned, isBegun: entry.isBegun)
        }
        try #require(found == model.items)
    }
}
