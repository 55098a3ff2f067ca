import ErrandJSONDecoding
import Foundation
import Testing

@Suite("Numbers of the fast decoder", .endsInTime, .leakChecked)
struct NumberTests {
    private func read<Value: Decodable>(_ text: String, _ type: Value.Type = Value.self) -> Value? {
        try? FastJSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// Returns random digits, with or without a fraction and an exponent.
    private func text(_ random: inout SeededGenerator) -> String {
        let digits = 1 + random.below(random.chance(10) ? 60 : 22)
        var text = (0..<digits).map { _ in "\(random.below(10))" }.joined()
        text = String(text.drop { $0 == "0" })
        if text.isEmpty { text = "0" }
        if random.chance(2) { text += "." + (0...random.below(20)).map { _ in "\(random.below(10))" }.joined() }
        if random.chance(2) { text += "e\(random.below(random.chance(4) ? 700 : 60) - 30)" }
        return random.chance(3) ? "-" + text : text
    }

    @Test("a Double and a Float are the nearest values, as the standard library reads them")
    func rounding() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let text = text(&random)
            let (double, float) = (Double(text) ?? .nan, Float(text) ?? .nan)
            let isZero = !text.prefix { $0 != "e" }.contains { "1"..."9" ~= $0 }
            #expect(read(text) == (double.isFinite && (double != 0 || isZero) ? double : nil), "\(text)")
            #expect(read(text) == (float.isFinite && (float != 0 || isZero) ? float : nil), "\(text)")
        }
    }

    @Test("every Double is read back from its description, bit by bit")
    func descriptions() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            #expect(read("\(value)", Double.self)?.bitPattern == value.bitPattern)
            #expect(read("[\(value)]", [Double].self)?.first?.bitPattern == value.bitPattern)
        }
        #expect(read("-0", Double.self)?.sign == .minus)
    }

    @Test("halfway values round to even, even with hundreds of digits")
    func middles() {
        let middle = "9007199254740993"
        #expect(read(middle) == 9_007_199_254_740_992.0)
        #expect(read(middle + ".0000000000000000000001") == 9_007_199_254_740_994.0)
        #expect(read(middle + "." + String(repeating: "0", count: 900) + "1") == 9_007_199_254_740_994.0)
        #expect(read("16777217", Float.self) == 16_777_216)
        #expect(read("16777217.000000001", Float.self) == 16_777_218)
    }

    @Test("integers of every width are exact, up to both ends of their range")
    func integers() {
        func check<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) {
            for value in [Value.min, Value.max, 0, Value.max / 3, Value.min / 3] {
                #expect(read("\(value)", type) == value)
                #expect(read("\(value).0", type) == value)
                #expect(read("[\(value)]", [Value].self) == [value])
                if value != 0 { #expect(read("\(value)0e-1", type) == value) }
                #expect(read("\(value).5", type) == nil)
            }
            #expect(read("\(Value.max)0", type) == nil)
            #expect(read("\(Value.max)e1", type) == nil)
            if Value.isSigned { #expect(read("\(Value.min)0", type) == nil) } else { #expect(read("-1", type) == nil) }
            #expect(read("1e2", type) == 100)
            #expect(read("1e400000000000000000000", type) == nil)
            #expect(read("0e400000000000000000000", type) == 0)
        }
        check(Int.self)
        check(Int8.self)
        check(Int16.self)
        check(Int32.self)
        check(Int64.self)
        check(Int128.self)
        check(UInt.self)
        check(UInt8.self)
        check(UInt16.self)
        check(UInt32.self)
        check(UInt64.self)
        check(UInt128.self)
    }

    @Test("a Decimal has all its digits")
    func decimals() throws {
        for text in ["0.1", "123456789012345678901234567890.12345", "-1e-20", "1e127", "1e200", "0", "-0.00"] {
            Pair().agree(Decimal.self, text)
        }
    }
}
