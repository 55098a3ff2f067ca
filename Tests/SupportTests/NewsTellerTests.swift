import ErrandSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct NewsTellerTests {
    private final class Heard: Sendable {
        private let numbers = Mutex<[Int]>([])
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
        var all: [Int] { numbers.withLock { $0 } }
    }

    @Test("what many threads change is told in order, up to the last")
    func order() async {
        let heard = Heard()
        let teller = NewsTeller(0, news: { $0 }, tell: heard.add)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<500 { teller.change { $0 += 1 } } } }
        }
        await teller.allTold()
        #expect(heard.all == heard.all.sorted())
        #expect(Set(heard.all).count == heard.all.count)
        #expect(heard.all.last == 4000)
    }

    @Test("a listener may change the state, and hears of that after")
    func reentrant() async {
        let heard = Heard()
        let mine = Holder()
        mine.teller = NewsTeller(0, news: { $0 }) { number in
            heard.add(number)
            if number < 3 { mine.teller?.change { $0 += 1 } }
        }
        mine.teller?.change { $0 += 1 }
        await mine.teller?.allTold()
        mine.teller = nil
        #expect(heard.all == [1, 2, 3])
    }

    @Test("what is only prepared is told with the next change")
    func prepare() async {
        let heard = Heard()
        let teller = NewsTeller(0, news: { $0 }, tell: heard.add)
        teller.prepare { $0 += 10 }
        #expect(heard.all == [])
        teller.change { $0 += 1 }
        await teller.allTold()
        #expect(heard.all == [11])
    }

    private final class Holder: Sendable {
        private let state = Mutex<NewsTeller<Int, Int>?>(nil)
        var teller: NewsTeller<Int, Int>? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }
}
