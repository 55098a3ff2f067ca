#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

/// The header lines of a request as libcurl's list, in one piece of memory that is reused.
struct HeaderList: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// The number of lines in the list.
    private var filled = 0

    deinit { free(memory) }

    /// The list, nil for none. `Content-Length` is left out, because libcurl sets it. `extra` are whole lines in
    /// libcurl's syntax, `codings` the value of Accept-Encoding. Throws `invalidRequest` for a control character, which
    /// could end the line and begin a request; and `tooLarge` where the lines have more bytes than `limit`: libcurl
    /// 8.16 would send the beginning of such a head and wait for a response.
    mutating func fill(
        _ headers: HTTPHeaders, _ extra: [StaticString], _ codings: String?, limit: Int,
        tooLarge: @autoclosure () -> ErrandError
    ) throws(ErrandError) -> UnsafeMutablePointer<errand_curl_slist>? {
        let count = headers.count + extra.count + (codings == nil ? 0 : 1)
        filled = 0
        if count == 0 { return nil }
        var size = count * MemoryLayout<errand_curl_slist>.stride
        for field in headers { size += field.name.rawName.utf8.count + field.value.utf8.count + 3 }
        if let codings { size += Self.acceptEncoding.utf8CodeUnitCount + codings.utf8.count + 1 }
        for line in extra { size += line.utf8CodeUnitCount + 1 }
        if size - count * MemoryLayout<errand_curl_slist>.stride > limit { throw tooLarge() }
        if size > capacity {
            free(memory)
            memory = malloc(size)
            capacity = memory == nil ? 0 : size
        }
        guard let memory else { throw ErrandError(.transportFailed, "there is no memory for the headers") }
        let nodes = memory.bindMemory(to: errand_curl_slist.self, capacity: count)
        var text = (memory + count * MemoryLayout<errand_curl_slist>.stride).assumingMemoryBound(to: UInt8.self)
        var index = 0
        for field in headers where field.name != .contentLength {
            let start = text
            try Self.copy(field.name.rawName, to: &text)
            if field.value.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                // libcurl would leave the header out for "Name:".
                text.pointee = UInt8(ascii: ";")
                text += 1
            } else {
                text[0] = UInt8(ascii: ":")
                text[1] = 0x20
                text += 2
                if field.isLatin1, field.value.unicodeScalars.allSatisfy({ $0.value <= 0xFF }) {
                    try Self.copy(latin1: field.value, to: &text)
                } else {
                    try Self.copy(field.value, to: &text)
                }
            }
            Self.close(&nodes[index], from: start, at: &text)
            index += 1
        }
        for line in extra {
            let start = text
            Self.copy(line, to: &text)
            Self.close(&nodes[index], from: start, at: &text)
            index += 1
        }
        if let codings {
            let start = text
            Self.copy(Self.acceptEncoding, to: &text)
            try Self.copy(codings, to: &text)
            Self.close(&nodes[index], from: start, at: &text)
            index += 1
        }
        filled = index
        for link in 0..<index { nodes[link].next = link + 1 < index ? nodes + link + 1 : nil }
        return index == 0 ? nil : nodes
    }

    /// Cuts the lines of this name after the colon, which makes libcurl leave the header out.
    mutating func withdraw(_ name: String) {
        guard let memory, filled > 0 else { return }
        let nodes = memory.assumingMemoryBound(to: errand_curl_slist.self)
        for index in 0..<filled {
            guard let line = nodes[index].data else { continue }
            let length = name.utf8.count
            if strncasecmp(line, name, length) == 0, line[length] == 0x3A { line[length + 1] = 0 }
        }
    }

    private static func close(
        _ node: inout errand_curl_slist, from start: UnsafeMutablePointer<UInt8>,
        at text: inout UnsafeMutablePointer<UInt8>
    ) {
        text.pointee = 0
        text += 1
        node.data = UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self)
    }

    private static let acceptEncoding: StaticString = "Accept-Encoding: "

    private static func copy(_ text: StaticString, to target: inout UnsafeMutablePointer<UInt8>) {
        memcpy(target, text.utf8Start, text.utf8CodeUnitCount)
        target += text.utf8CodeUnitCount
    }

    /// A byte for each character; shorter than UTF-8.
    private static func copy(
        latin1 string: String, to text: inout UnsafeMutablePointer<UInt8>
    ) throws(ErrandError) {
        for scalar in string.unicodeScalars {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            if byte < 0x20 && byte != 0x09 || byte == 0x7F {
                throw ErrandError(.invalidRequest, "a header has a control character")
            }
            text.pointee = byte
            text += 1
        }
    }

    private static func copy(_ string: String, to text: inout UnsafeMutablePointer<UInt8>) throws(ErrandError) {
        var string = string
        let target = text
        let count = string.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                if byte < 0x20 && byte != 0x09 || byte == 0x7F { return -1 }
                target[index] = byte
            }
            return bytes.count
        }
        if count < 0 { throw ErrandError(.invalidRequest, "a header has a control character") }
        text += count
    }
}
#endif
