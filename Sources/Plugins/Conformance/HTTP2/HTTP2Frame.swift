/// The bytes of HTTP/2 frames (RFC 9113, sections 4.1 and 6).
package enum HTTP2Frame {
    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
    }

    package enum Flag {
        package static let endStream: UInt8 = 1
        package static let acknowledgement: UInt8 = 1
        package static let endHeaders: UInt8 = 4
        package static let padded: UInt8 = 8
        package static let priority: UInt8 = 32
    }

    package static let headLength = 9
    /// The largest payload that an endpoint accepts unless its settings allow more.
    package static let largestPayload = 16_384

    package static func bytes(_ kind: UInt8, _ flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        Array(word(UInt32(payload.count)).dropFirst()) + [kind, flags] + word(stream) + payload
    }

    /// Splits a header block into HEADERS and CONTINUATION frames.
    package static func bytes(ofBlock block: [UInt8], endsStream: Bool, stream: UInt32) -> [UInt8] {
        var (bytes, rest, kind): ([UInt8], ArraySlice<UInt8>, UInt8) = ([], block[...], Kind.headers)
        repeat {
            let part = rest.prefix(largestPayload)
            rest = rest.dropFirst(largestPayload)
            let ending = kind == Kind.headers && endsStream ? Flag.endStream : 0
            bytes += self.bytes(kind, ending | (rest.isEmpty ? Flag.endHeaders : 0), stream: stream, Array(part))
            kind = Kind.continuation
        } while !rest.isEmpty
        return bytes
    }

    /// Reads the first nine bytes of a frame.
    package static func head(_ bytes: [UInt8]) -> (length: Int, kind: UInt8, flags: UInt8, stream: UInt32) {
        let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        let stream = bytes[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        return (length, bytes[3], bytes[4], stream)
    }

    package static func word(_ number: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }
}
