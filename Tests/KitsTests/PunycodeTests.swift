import ErrandPunycode
import Testing

@Suite("Punycode", .endsInTime) struct PunycodeTests {
    private static func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

    @Test(
        "labels are encoded as Python and RFC 3492 (section 7.1) encode them, and decoded in either case",
        arguments: [
            ("bücher", "bcher-kva"), ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"), ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
            ("-> $1.00 <-", "-> $1.00 <--"), ("президент", "d1abbgf6aiiy"), ("😀", "e28h"), ("a😀b", "ab-no82a"),
            ("Hello-Another-Way-それぞれの場所", "Hello-Another-Way--fc4qua05auwb3674vfr0b"),
        ])
    func samples(_ label: String, _ encoding: String) {
        #expect(Punycode.encode(label.unicodeScalars) == encoding)
        #expect(Punycode.decode(Array(encoding.utf8)) == Self.scalars(label))
        if !label.contains(where: \.isASCII) {
            #expect(Punycode.decode(Array(encoding.uppercased().utf8)) == Self.scalars(label))
        }
    }

    @Test("decoding an encoded label returns the label, for random labels of up to 63 characters")
    func roundTrips() throws {
        var generator = SystemRandomNumberGenerator()
        for length in 1...63 {
            for limit: UInt32 in [0x7F, 0x17F, 0xFFFF, 0x10FFFF] {
                let label = (0..<length).map { _ in
                    Unicode.Scalar(UInt32.random(in: 0x21...limit, using: &generator)) ?? "é"
                }
                let encoding = try #require(Punycode.encode(label))
                #expect(Punycode.decode(Array(encoding.utf8)) == label, "\(label)")
            }
        }
        #expect(Punycode.encode(repeatElement("é", count: 64)) == nil)
        #expect(Punycode.encode([]) == "")
    }

    @Test(
        "truncated encodings, encodings with other bytes, and encodings beyond Unicode are rejected",
        arguments: ["bcher-kv", "bcher-k!a", "-kva", "99999999999", "e28h9999", "bcher-kvé", "d800zzzz"])
    func invalid(_ encoding: String) {
        #expect(Punycode.decode(Array(encoding.utf8)) == nil)
    }
}
