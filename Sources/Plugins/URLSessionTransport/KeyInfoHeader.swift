import Foundation

/// The bytes before a raw public key in its SubjectPublicKeyInfo (RFC 5280, section 4.1; RFC 5480). A pin is the digest
/// of these bytes and the key.
enum KeyInfoHeader {
    static func bytes(isRSA: Bool, bits: Int) -> Data? {
        let text: String? =
            switch (isRSA, bits) {
            case (true, 2048): "30820122300d06092a864886f70d01010105000382010f00"
            case (true, 3072): "308201a2300d06092a864886f70d01010105000382018f00"
            case (true, 4096): "30820222300d06092a864886f70d01010105000382020f00"
            case (false, 256): "3059301306072a8648ce3d020106082a8648ce3d030107034200"
            case (false, 384): "3076301006072a8648ce3d020106052b81040022036200"
            case (false, 521): "30819b301006072a8648ce3d020106052b8104002303818600"
            default: nil
            }
        return text.flatMap { text in
            var data = Data()
            var rest = text[...]
            while let byte = UInt8(rest.prefix(2), radix: 16) {
                data.append(byte)
                rest = rest.dropFirst(2)
            }
            return data
        }
    }
}
