import Errand
import Testing

@testable import ErrandStreaming

@Suite("Followers of an event stream's states", .leakChecked) struct StateFollowerTests {
    @Test("a reader of states that has ended is removed while the stream continues")
    func ended() async {
        let status = EventStreamStatus("")
        for attempt in 1...100 {
            status.change(to: .connecting(attempt: attempt))
            for await _ in status.states { break }
        }
        #expect(status.followerCount == 0)
        let states = status.states
        #expect(status.followerCount == 1)
        status.change(to: .closed(nil))
        #expect(status.followerCount == 0)
        #expect(await states.reduce(into: 0) { count, _ in count += 1 } == 2)
    }

    @Test("a stream that is dropped unread ends the sequences of its states")
    func unread() async {
        var status: EventStreamStatus? = EventStreamStatus("")
        let states = status!.states
        status = nil
        #expect(await states.reduce(into: 0) { count, _ in count += 1 } == 1)
    }
}
