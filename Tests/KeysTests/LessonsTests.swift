import ErrandEssentials
import ErrandHTTP
import Testing

@testable import ErrandKeys

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Keys of other programs", .endsInTime) struct KeyLessonsTests {
    private static let message = Data("a message".utf8)

    /// Returns the key of P-256 whose number is 1, with the number in these bytes.
    private static func one(_ scalar: [UInt8]) -> String {
        PEM.text(
            DER.sequence(
                DER.integer([1]), DER.octets(scalar),
                DER.value(DER.Tag.context(0), ObjectID.written(ObjectID.p256))), label: "EC PRIVATE KEY")
    }

    @Test(
        "zeros at the start of an elliptic curve's number may be missing, or more than needed",
        arguments: [1, 2, 31, 32, 33, 40])
    func leadingZeros(count: Int) throws {
        let key = try PrivateKey(pem: Self.one([UInt8](repeating: 0, count: count - 1) + [1]))
        let signature = try key.signature(of: Self.message, by: .ecdsaP256SHA256)
        #expect(try key.publicKey.isValid(signature, of: Self.message, by: .ecdsaP256SHA256))
        // A key is written as the standard says.
        #expect(key.pem == (try PrivateKey(pem: Self.one([UInt8](repeating: 0, count: 31) + [1]))).pem)
    }

    @Test("a number without digits, or with too many, isn't a key")
    func wrongNumbers() {
        for scalar in [[], [0], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 33)] as [[UInt8]] {
            #expect(throws: KeyError.self) { try PrivateKey(pem: Self.one(scalar)) }
        }
    }

    @Test("BoringSSL's test key, whose number has one byte, is read")
    func shortKey() throws {
        let pem = """
            -----BEGIN EC PRIVATE KEY-----
            MFgCAQEEAQGgCgYIKoZIzj0DAQehRANCAARrF9Hy4SxCR/i85uVjpEDydwN9gS3r
            M6D0oTlF2JjClk/jQuL+Gn+bjufrSnwPnhYrzjNXazFezsu2QGg3v1H1
            -----END EC PRIVATE KEY-----
            """
        let key = try PrivateKey(pem: pem)
        #expect(try PrivateKey(pem: Self.one([1])).publicKey == key.publicKey)
    }

    @Test("a private key whose public point is compressed is read, because the point follows from its number")
    func compressedPoint() throws {
        let whole = try PrivateKey(pem: Self.one([1])).publicKey
        let scalar = [UInt8](repeating: 0, count: 31) + [1]
        let x = try #require(Self.x(of: whole))
        let key = DER.sequence(
            DER.integer([1]), DER.octets(scalar),
            DER.value(DER.Tag.context(0), ObjectID.written(ObjectID.p256)),
            DER.value(DER.Tag.context(1), DER.bits([3] + x)))
        #expect(try PrivateKey(pem: PEM.text(key, label: "EC PRIVATE KEY")).publicKey == whole)
    }

    private static func x(of key: PublicKey) -> [UInt8]? {
        guard let json = try? JSONDecoder().decode([String: String].self, from: Data(key.jwk.utf8)),
            let text = json["x"]
        else { return nil }
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)).map(
            Array.init)
    }

    @Test(
        "a key is read despite surrounding text, other line ends, and line ends that an environment variable lost",
        arguments: [
            "plain", "attributes", "one line", "empty lines", "blanks", "indented", "carriage returns", "escaped",
            "escaped with returns", "escaped returns", "a single line", "spaces", "quoted",
        ])
    func forms(form: String) throws {
        let pem = TestKeys.p256Private
        let lines = pem.split(separator: "\n").map(String.init)
        let body = lines.dropFirst().dropLast()
        let text =
            switch form {
            case "attributes":
                "Bag Attributes\n    friendlyName: mykey\n    localKeyID: 54 69 6D\nKey Attributes: <No Attributes>\n"
                    + pem
            case "one line": [lines[0], body.joined(), lines[lines.count - 1]].joined(separator: "\n")
            case "empty lines": lines.joined(separator: "\n\n") + "\n\n"
            case "blanks": lines.map { $0 + " \t" }.joined(separator: "\n") + "\n  \n"
            case "indented": lines.map { "    " + $0 }.joined(separator: "\n")
            case "carriage returns": lines.joined(separator: "\r\n")
            case "escaped": lines.joined(separator: "\\n") + "\\n"
            case "escaped returns": lines.joined(separator: "\\r")
            case "a single line": lines.joined()
            case "spaces": lines.joined(separator: " ")
            case "quoted": "KEY=\"\(pem)\""
            case "escaped with returns": lines.joined(separator: "\\r\\n")
            default: pem
            }
        #expect(try PrivateKey(pem: text).publicKey == PrivateKey(pem: pem).publicKey)
    }
}
