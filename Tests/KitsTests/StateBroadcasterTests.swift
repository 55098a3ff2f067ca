import ErrandStates
import Synchronization
import Testing

@Suite(.leakChecked) struct StateBroadcasterTests {
    @Test("each reader receives the current state when it begins, then each new one")
    func order() async {
        let broadcaster = StateBroadcaster(0, maximumWaiting: 10)
        let early = broadcaster.states
        broadcaster.send(1)
        let late = broadcaster.states
        broadcaster.send(2)
        broadcaster.finish()
        #expect(await early.reduce(into: []) { $0.append($1) } == [0, 1, 2])
        #expect(await late.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(broadcaster.state == 2)
    }

    @Test("a slow reader receives the newest states, up to the maximum that may wait")
    func slow() async {
        for (maximum, expected) in [(1, [9]), (0, [9]), (3, [7, 8, 9])] {
            let broadcaster = StateBroadcaster(0, maximumWaiting: maximum)
            let states = broadcaster.states
            for state in 1...9 { broadcaster.send(state) }
            broadcaster.finish()
            #expect(await states.reduce(into: []) { $0.append($1) } == expected)
        }
    }

    @Test("a reader that has ended is forgotten at once")
    func readers() async {
        let broadcaster = StateBroadcaster(0)
        for _ in 0..<1_000 {
            for await _ in broadcaster.states { break }
        }
        #expect(broadcaster.readerCount == 0)
        var kept: AsyncStream<Int>? = broadcaster.states
        #expect(broadcaster.readerCount == 1)
        withExtendedLifetime(kept) {}
        kept = nil
        #expect(broadcaster.readerCount == 0)
    }

    @Test("a reader that starts after the end receives the last state, and ends")
    func afterTheEnd() async {
        let broadcaster = StateBroadcaster(0)
        broadcaster.finish()
        broadcaster.finish()
        broadcaster.send(1)
        #expect(await broadcaster.states.reduce(into: []) { $0.append($1) } == [1])
        #expect(broadcaster.readerCount == 0)
    }

    @Test("the end of the broadcaster ends its readers")
    func end() async {
        var broadcaster: StateBroadcaster? = StateBroadcaster(7)
        let states = broadcaster!.states
        broadcaster = nil
        #expect(await states.reduce(into: []) { $0.append($1) } == [7])
    }

    /// A state that uses its sender when it's deallocated, as user code may.
    private final class Screen: Sendable {
        let number: Int
        private let atEnd: @Sendable (Int) -> Void
        init(_ number: Int, atEnd: @escaping @Sendable (Int) -> Void) { (self.number, self.atEnd) = (number, atEnd) }
        deinit { atEnd(number) }
    }

    @Test("the deinit of a state can send, read and finish, because it never runs under the lock")
    func reentrancy() async {
        let broadcaster = StateBroadcaster<Screen?>(nil)
        let ended = Mutex<[Int]>([])
        let states = broadcaster.states
        for number in 1...3 {
            broadcaster.send(
                Screen(number) { number in
                    ended.withLock { $0.append(number) }
                    if number < 3 { broadcaster.send(broadcaster.state) }
                })
        }
        broadcaster.send(nil)
        broadcaster.finish()
        #expect(await states.reduce(into: []) { $0.append($1?.number) } == [nil])
        #expect(ended.withLock { $0 } == [1, 2, 3])
    }

    @Test("a reader receives each thread's states in order, and the final state last")
    func threads() async {
        let broadcaster = StateBroadcaster(0, maximumWaiting: 10_000)
        let states = broadcaster.states
        await withTaskGroup { group in
            for thread in 1...4 {
                group.addTask {
                    for number in 0..<500 { broadcaster.send(thread * 1_000 + number) }
                }
            }
        }
        broadcaster.finish()
        let received = await states.reduce(into: []) { $0.append($1) }
        #expect(received.count == 2_001 && received.last == broadcaster.state)
        for thread in 1...4 {
            #expect(received.filter { $0 / 1_000 == thread } == Array(thread * 1_000..<thread * 1_000 + 500))
        }
    }
}
