import ErrandSupport
import Foundation
import Testing

@Suite("Spans of bytes", .leakChecked)
struct ByteSpanTests {
    @Test("a byte is searched only within the range, and found with its index in the whole")
    func bytes() {
        let text = ContiguousArray("a-b-c".utf8)
        #expect(text.span.firstIndex(of: UInt8(ascii: "-")) == 1)
        #expect(text.span.firstIndex(of: UInt8(ascii: "-"), from: 2) == 3)
        #expect(text.span.firstIndex(of: UInt8(ascii: "-"), in: 2..<3) == nil)
        #expect(text.span.firstIndex(of: UInt8(ascii: "c"), in: 0..<4) == nil)
        #expect(text.span.firstIndex(of: UInt8(ascii: "a"), from: 5) == nil)
        #expect(text.span.firstIndex(of: UInt8(ascii: "a"), from: 6) == nil)
        let tail = text[2...]
        #expect(tail.span.firstIndex(of: UInt8(ascii: "-")) == 1)
        #expect(Span<UInt8>().firstIndex(of: 0) == nil)
    }

    @Test("a sequence of bytes is found completely, even after a partial match")
    func patterns() {
        let text = ContiguousArray("aab aabb".utf8)
        #expect(text.span.firstIndex(of: Array("aabb".utf8)) == 4)
        #expect(text.span.firstIndex(of: Array("aab".utf8), from: 1) == 4)
        #expect(text.span.firstIndex(of: Array("bb".utf8)) == 6)
        #expect(text.span.firstIndex(of: Array("bbb".utf8)) == nil)
        #expect(text.span.firstIndex(of: Array("aab aabb!".utf8)) == nil)
        #expect(text.span.firstIndex(of: [UInt8]()) == nil)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random)
            }
            let part = (0..<Int.random(in: 1...3, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            let expected = bytes.indices.first { bytes[$0...].starts(with: part) }
            #expect(bytes.withSpan { $0.firstIndex(of: part) } == expected, "\(part) in \(bytes)")
        }
    }

    @Test("bytes are compared completely, and not beyond the end")
    func comparing() {
        let text = ContiguousArray("abc".utf8)
        #expect((text.span.contains(Array("bc".utf8), at: 1)) == true)
        #expect((text.span.contains(Array("bcd".utf8), at: 1)) == false)
        #expect((text.span.contains(Array("c".utf8), at: 3)) == false)
        #expect((text.span.contains([], at: 3)) == true)
        #expect((text.span.hasSameBytes(as: Data("abc".utf8).span)) == true)
        #expect((text.span.hasSameBytes(as: text.span.extracting(..<2))) == false)
        #expect((Span<UInt8>().hasSameBytes(as: Span())) == true)
        #expect("K;`".hasSameBytes(asASCII: "K;`"))
        // Two of these texts are canonically equivalent to that text.
        for other in ["k;`", "K;", "", "\u{212A};`", "K\u{37E}`"] {
            #expect(!other.hasSameBytes(asASCII: "K;`"), "\(other.debugDescription)")
        }
        #expect("K;`".isASCII && "".isASCII && !"\u{212A}".isASCII)
    }

    @Test("integers are written and read in both orders, at any offset")
    func integers() {
        var bytes: [UInt8] = [0xFF]
        bytes.append(littleEndian: 0x0102_0304 as UInt32)
        bytes.append(bigEndian: 0x0102_0304_0506_0708 as UInt64)
        bytes.append(littleEndian: -2 as Int64)
        #expect(bytes[..<13] == [0xFF, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(bytes.withSpan { $0.littleEndian(at: 1, as: UInt32.self) } == 0x0102_0304)
        #expect(bytes.withSpan { $0.bigEndian(at: 5, as: UInt64.self) } == 0x0102_0304_0506_0708)
        #expect(bytes.withSpan { $0.littleEndian(at: 13, as: Int64.self) } == -2)
        #expect(bytes.withSpan { $0.littleEndian(at: 0, as: UInt8.self) } == 0xFF)
    }

    @Test("containers can be created from a span's bytes, and text only if it's valid")
    func containers() {
        let bytes = ContiguousArray("grün".utf8)
        #expect(ContiguousArray([UInt8](copying: bytes.span)) == bytes)
        var data = Data(copying: bytes.span.extracting(..<2))
        data.append(contentsOf: bytes.span.extracting(2...))
        #expect(data == Data(bytes) && data.startIndex == 0)
        #expect(String(validating: bytes.span) == "grün")
        #expect(String(validating: bytes.span.extracting(..<3)) == nil)
        #expect(String(validating: Span<UInt8>()) == "")
    }
}
