#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Text out of bytes by the name of their charset.
package enum Charset {
    /// Nil for bytes that are not valid in it and for a charset that the system does not know.
    package static func decode(_ data: Data, named name: String) -> String? {
        switch name.lowercased() {
        case "utf-8", "utf8", "us-ascii":
            let bytes = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
            return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1": return String(data: data, encoding: .isoLatin1)
        default: return convert(data, from: name)
        }
    }

    /// The C library knows the rest: windows-1252, Shift_JIS, EUC-JP, GB18030, Big5, UTF-16 and more.
    private static func convert(_ data: Data, from name: String) -> String? {
        guard name.utf8.count < 40, name.utf8.allSatisfy(ASCII.isToken), let converter = iconv_open("UTF-8", name),
            Int(bitPattern: converter) != -1
        else { return nil }
        defer { iconv_close(converter) }
        var input = Array(data).map(CChar.init(bitPattern:))
        var output = [CChar](repeating: 0, count: input.count * 4 + 16)
        let size = output.count
        let written: Int? = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                var (from, to) = (source.baseAddress, target.baseAddress)
                var (left, room) = (source.count, size)
                return iconv(converter, &from, &left, &to, &room) == -1 || left > 0 ? nil : size - room
            }
        }
        return written.flatMap { String(validating: output[..<$0].map(UInt8.init(bitPattern:)), as: UTF8.self) }
    }
}
