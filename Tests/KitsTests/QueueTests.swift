import ErrandCollections
import Testing

@Suite("Queues") struct QueueTests {
    @Test("elements are removed in the order in which they were added")
    func order() {
        var queue = FIFOQueue<Int>()
        var (added, taken) = (0, 0)
        for step in 1...200 {
            for _ in 0..<step % 7 * 13 {
                queue.append(added)
                added += 1
            }
            #expect(queue.first == (taken < added ? taken : nil))
            for _ in 0..<step % 5 * 17 {
                #expect(queue.popFirst() == (taken < added ? taken : nil))
                taken = min(taken + 1, added)
            }
            #expect(queue.count == added - taken && queue.isEmpty == (added == taken))
        }
    }

    @Test("a queue doesn't retain removed entries")
    func lifetime() {
        final class Element {}
        var queue = FIFOQueue<Element>()
        weak var first: Element?
        do {
            let element = Element()
            first = element
            queue.append(element)
            for _ in 0..<10 { queue.append(Element()) }
        }
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil)
    }

    @Test("an element can leave a waiting line, and the others keep their order")
    func leaving() {
        var line = WaitingQueue<String>()
        let numbers = (0..<6).map { index in
            let number = line.nextNumber()
            line.append("\(index)", number)
            return number
        }
        #expect(line.remove(numbers[0]) == "0" && line.remove(numbers[0]) == nil && line.first == "1")
        #expect(line.remove(numbers[3]) == "3" && line.count == 4)
        #expect(line.removeLast(upTo: 3) == ["5"])
        #expect(line.popFirst() == "1" && line.removeAll() == ["2", "4"] && line.isEmpty && line.popFirst() == nil)
        // Waiters that leave are removed, even if no waiter is taken.
        line.append("waits", line.nextNumber())
        for index in 0..<10_000 {
            let number = line.nextNumber()
            line.append("\(index)", number)
            _ = line.remove(number)
        }
        #expect(line.orderCount < 200 && line.popFirst() == "waits")
    }
}
