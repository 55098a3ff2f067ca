import ErrandSupport
import Testing

@Suite(.endsInTime, .leakChecked) struct NumberedTableTests {
    private final class Object: Sendable {
        let number: UInt64
        init(_ number: UInt64) { self.number = number }
    }

    @Test("Each number has its object, after any additions and removals")
    func sameAsADictionary() {
        var generator = SystemRandomNumberGenerator()
        for range in [20, 300, 100_000] as [UInt64] {
            var (objects, expected) = (NumberedTable<Object>(), [UInt64: Object]())
            for _ in 0..<20_000 {
                let number = UInt64.random(in: 1...range, using: &generator)
                if Bool.random(using: &generator), expected.count < 1_000 {
                    let object = Object(number)
                    objects.add(object, for: number)
                    expected[number] = object
                } else {
                    #expect(objects.remove(number) === expected.removeValue(forKey: number))
                }
                #expect(objects.count == expected.count)
            }
            for number in 0...min(range, 1_000) { #expect(objects[number] === expected[number]) }
            for (number, object) in expected { #expect(objects[number] === object) }
            #expect(Set(objects.all.map(\.number)) == Set(expected.keys))
        }
    }

    @Test("An object that is removed or replaced is released")
    func released() {
        var objects = NumberedTable<Object>()
        weak var removed: Object?
        weak var replaced: Object?
        do {
            let (one, two) = (Object(1), Object(2))
            (removed, replaced) = (one, two)
            objects.add(one, for: 1)
            objects.add(two, for: 2)
        }
        #expect(removed != nil && replaced != nil)
        objects.add(Object(2), for: 2)
        objects.remove(1)
        #expect(removed == nil && replaced == nil && objects.count == 1)
    }
}
