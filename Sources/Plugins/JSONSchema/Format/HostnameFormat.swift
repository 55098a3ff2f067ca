import ErrandMessageSyntax

/// Names of hosts: ASCII (RFC 1123, section 2.1), with international labels in Punycode (RFC 5890, section 2.3.2.1), and
/// international ones as they are written.
enum HostnameFormat {
    static func isHostname(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, bytes.count <= 253 else { return false }
        var labels: [[Unicode.Scalar]] = []
        for label in bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard let decoded = self.label(label) else { return false }
            labels.append(decoded)
        }
        return BidiName.fits(labels)
    }

    /// The characters that a label in ASCII stands for; nil if it is none.
    private static func label(_ label: ArraySlice<UInt8>) -> [Unicode.Scalar]? {
        guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
            label.allSatisfy({ ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") })
        else { return nil }
        guard label.count >= 4, label.dropFirst(2).prefix(2).elementsEqual("--".utf8) else {
            return label.map { Unicode.Scalar($0) }
        }
        // Labels with two hyphens there are reserved, but for those in Punycode.
        guard label.prefix(2).map({ $0 | 0x20 }) == Array("xn".utf8) else { return nil }
        guard let decoded = Punycode.decode(Array(label.dropFirst(4))), decoded.contains(where: { !$0.isASCII }),
            InternationalLabel(decoded).isValid
        else { return nil }
        return decoded
    }

    static func isInternational(_ text: String) -> Bool {
        // Each character takes at least one byte of the 253 that the name may have in ASCII.
        guard text.utf8.count <= 253 * 4 else { return false }
        let labels = text.unicodeScalars.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == "." || $0 == "\u{3002}" || $0 == "\u{FF0E}" || $0 == "\u{FF61}" })
        var length = labels.count - 1
        var decoded: [[Unicode.Scalar]] = []
        for label in labels {
            if label.allSatisfy(\.isASCII) {
                guard let scalars = self.label(Array(String(label).utf8)[...]) else { return false }
                decoded.append(scalars)
                length += label.count
            } else {
                let scalars = Array(label)
                guard let encoded = Punycode.encodedLength(scalars), encoded <= 59, InternationalLabel(scalars).isValid
                else { return false }
                decoded.append(scalars)
                length += encoded + 4
            }
        }
        return length <= 253 && BidiName.fits(decoded)
    }
}

/// Punycode (RFC 3492).
enum Punycode {
    static func decode(_ bytes: [UInt8]) -> [Unicode.Scalar]? {
        var scalars: [Unicode.Scalar] = []
        var rest = bytes[...]
        if let hyphen = bytes.lastIndex(of: UInt8(ascii: "-")) {
            scalars = bytes[..<hyphen].map { Unicode.Scalar($0) }
            rest = bytes[(hyphen + 1)...]
            if scalars.isEmpty { return nil }
        }
        var (n, i, bias) = (128, 0, 72)
        while !rest.isEmpty {
            let before = i
            var (weight, k) = (1, 36)
            while true {
                guard let byte = rest.popFirst(), let digit = digit(byte) else { return nil }
                i += digit * weight
                if i > 0x7FFF_FFFF { return nil }
                let threshold = min(max(k - bias, 1), 26)
                if digit < threshold { break }
                weight *= 36 - threshold
                if weight > 0x7FFF_FFFF { return nil }
                k += 36
            }
            bias = adapted(i - before, scalars.count + 1, isFirst: before == 0)
            n += i / (scalars.count + 1)
            i %= scalars.count + 1
            guard n <= 0x10FFFF, let scalar = Unicode.Scalar(UInt32(n)) else { return nil }
            scalars.insert(scalar, at: i)
            i += 1
        }
        return scalars
    }

    /// The number of bytes of a label in Punycode, without its prefix; nil if it is far too long.
    static func encodedLength(_ scalars: [Unicode.Scalar]) -> Int? {
        if scalars.count > 63 { return nil }
        let basic = scalars.count(where: \.isASCII)
        var (n, delta, bias, handled) = (128, 0, 72, basic)
        var length = basic + (basic > 0 ? 1 : 0)
        while handled < scalars.count {
            guard let next = scalars.map({ Int($0.value) }).filter({ $0 >= n }).min() else { return nil }
            delta += (next - n) * (handled + 1)
            n = next
            for scalar in scalars {
                if Int(scalar.value) < n { delta += 1 }
                guard Int(scalar.value) == n else { continue }
                var (q, k) = (delta, 36)
                while true {
                    let threshold = min(max(k - bias, 1), 26)
                    length += 1
                    if q < threshold { break }
                    q = (q - threshold) / (36 - threshold)
                    k += 36
                }
                bias = adapted(delta, handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            n += 1
        }
        return length
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30 + 26
        case 0x41...0x5A: Int(byte) - 0x41
        case 0x61...0x7A: Int(byte) - 0x61
        default: nil
        }
    }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var (delta, k) = (isFirst ? delta / 700 : delta / 2, 0)
        delta += delta / count
        while delta > 455 {
            delta /= 35
            k += 36
        }
        return k + 36 * delta / (delta + 38)
    }
}
