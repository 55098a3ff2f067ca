import ErrandStates
import Synchronization
import Testing

@Suite(.endsInTime, .leakChecked) struct LatestValueNotifierTests {
    private final class Received: Sendable {
        private let numbers = Mutex<[Int]>([])
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
        var all: [Int] { numbers.withLock { $0 } }
    }

    @Test("the listener receives the changes of many threads in order, up to the last change")
    func order() async {
        let received = Received()
        let notifier = LatestValueNotifier(0, value: { $0 }, notify: received.add)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<500 { notifier.change { $0 += 1 } } } }
        }
        await notifier.allDelivered()
        #expect(received.all == received.all.sorted())
        #expect(Set(received.all).count == received.all.count)
        #expect(received.all.last == 4000)
    }

    @Test("a listener may change the state, and receives that change afterwards")
    func reentrant() async {
        let received = Received()
        let own = Holder()
        own.notifier = LatestValueNotifier(0, value: { $0 }) { number in
            received.add(number)
            if number < 3 { own.notifier?.change { $0 += 1 } }
        }
        own.notifier?.change { $0 += 1 }
        await own.notifier?.allDelivered()
        own.notifier = nil
        #expect(received.all == [1, 2, 3])
    }

    @Test("a silent change is delivered with the next change")
    func silent() async {
        let received = Received()
        let notifier = LatestValueNotifier(0, value: { $0 }, notify: received.add)
        notifier.changeSilently { $0 += 10 }
        #expect(received.all == [])
        notifier.change { $0 += 1 }
        await notifier.allDelivered()
        #expect(received.all == [11])
    }

    private final class Holder: Sendable {
        private let state = Mutex<LatestValueNotifier<Int, Int>?>(nil)
        var notifier: LatestValueNotifier<Int, Int>? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }
}
