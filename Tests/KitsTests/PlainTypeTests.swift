import ErrandSupport
import Testing

@Suite(.endsInTime, .leakChecked) struct PlainTypeTests {
    @Test("A type is asked again unless it was the last that doesn't conform")
    func remembers() {
        let plain = PlainType()
        let types: [any Any.Type] = [Int.self, Int.self, String.self, Int.self, Double.self, Int.self]
        var asked: [ObjectIdentifier] = []
        let excluded = types.map { type in
            plain.excludes(type) {
                asked.append(ObjectIdentifier(type))
                return type is any BinaryFloatingPoint.Type
            }
        }
        #expect(excluded == [true, true, true, true, false, true])
        #expect(asked == [types[0], types[2], types[3], types[4]].map { ObjectIdentifier($0) })
    }
}
