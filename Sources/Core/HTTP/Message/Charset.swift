import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Decodes text from bytes by the name of their charset.
enum Charset {
    /// Nil for bytes that are not valid in the charset, and for a charset that the system does not know.
    static func decode(_ data: Data, named name: String) -> String? {
        switch name.lowercased() {
        case "utf-8", "utf8", "us-ascii":
            let bytes = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
            return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1": return String(data: data, encoding: .isoLatin1)
        default:
            guard name.utf8.count < 40, name.utf8.allSatisfy(ASCII.isToken) else { return nil }
            return convert(data, from: name)
        }
    }

    #if !canImport(Darwin)
    /// The C library knows the rest: windows-1252, Shift_JIS, EUC-JP, GB18030, Big5, UTF-16 and more.
    private static func convert(_ data: Data, from name: String) -> String? {
        // Not optional on Android.
        let opened: iconv_t? = iconv_open("UTF-8", name)
        guard let converter = opened, Int(bitPattern: converter) != -1 else { return nil }
        defer { iconv_close(converter) }
        var output = Output(limit: data.count * 16 + 64)
        guard run(converter, Array(data), into: &output) else { return nil }
        let count = output.count
        // A shift sequence of UTF-7 that is cut short is dropped without an error; its end mark shows that.
        if name.lowercased().contains("utf-7") || name.lowercased().contains("utf7") {
            guard run(converter, [UInt8(ascii: "-")], into: &output) else { return nil }
            output.count = count
        }
        // A charset with combining characters holds a letter back until it knows what follows it.
        guard run(converter, nil, into: &output) else { return nil }
        return String(validating: output.bytes[..<output.count], as: UTF8.self)
    }

    private struct Output {
        var bytes = [UInt8](repeating: 0, count: 256)
        var count = 0
        let limit: Int
    }

    /// Converts all of the input; nil flushes the converter. False for input that is invalid or cut short, and for
    /// output beyond the limit.
    private static func run(_ converter: iconv_t, _ input: [UInt8]?, into output: inout Output) -> Bool {
        var input = (input ?? []).map(CChar.init(bitPattern:))
        let isFlush = input.isEmpty
        if output.bytes.count - output.count < input.count * 2 {
            output.bytes += [UInt8](
                repeating: 0, count: min(input.count * 2, max(0, output.limit - output.bytes.count)))
        }
        var (offset, count) = (0, output.count)
        defer { output.count = count }
        while true {
            let (isDone, code) = input.withUnsafeMutableBufferPointer { source in
                output.bytes.withUnsafeMutableBytes { target in
                    var from = source.baseAddress.map { $0 + offset }
                    var to = target.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) + count }
                    var (left, room) = (source.count - offset, target.count - count)
                    let result =
                        isFlush ? iconv(converter, nil, nil, &to, &room) : iconv(converter, &from, &left, &to, &room)
                    let code = errno
                    (offset, count) = (source.count - left, target.count - room)
                    return (result != -1 && left == 0, code)
                }
            }
            if isDone { return true }
            guard code == E2BIG, output.bytes.count < output.limit else { return false }
            output.bytes += [UInt8](repeating: 0, count: min(output.bytes.count, output.limit - output.bytes.count))
        }
    }
    #endif
}
