import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Frames of a WebSocket in tests") struct TestFrameTests {
    @Test(
        "a frame with a key of any length can be written, and can be read if the key has four bytes", arguments: 0...6)
    func keys(length: Int) throws {
        let key = [UInt8](repeating: 0x5A, count: length)
        let frame = TestFrame(opcode: 1, Data("hello".utf8), mask: key)
        var bytes = frame.wireBytes()
        #expect(bytes.count == 2 + length + 5 && bytes[1] == 0x85)
        let whole = Array((key + [0, 0, 0, 0]).prefix(4))
        #expect(bytes.suffix(5).elementsEqual(zip("hello".utf8, whole + whole).map(^)))
        if length == 4 { #expect(try #require(TestFrame.take(from: &bytes)) == frame && bytes.isEmpty) }
    }

    @Test("a length can be written in any number of bytes", arguments: [-1, 0, 2, 8, 9])
    func lengths(size: Int) {
        #expect(TestFrame.data(Data(count: 5)).wireBytes(lengthBytes: size).count == 7 + max(0, size))
    }
}
