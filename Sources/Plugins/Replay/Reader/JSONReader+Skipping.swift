import Errand
import ErrandJSONSyntax

extension JSONReader {
    /// The maximum nesting of containers.
    private static let depthLimit = 256

    /// Skips a value of any kind.
    mutating func skipValue() throws(HARError) {
        var closers: [UInt8] = []
        repeat {
            switch try token() {
            case UInt8(ascii: "{"):
                index += 1
                guard closers.count < Self.depthLimit else { throw fault(.tooLarge, "the values are nested too deep") }
                if try token() == UInt8(ascii: "}") {
                    index += 1
                } else {
                    closers.append(UInt8(ascii: "}"))
                    try skipName()
                    continue
                }
            case UInt8(ascii: "["):
                index += 1
                guard closers.count < Self.depthLimit else { throw fault(.tooLarge, "the values are nested too deep") }
                if try token() == UInt8(ascii: "]") {
                    index += 1
                } else {
                    closers.append(UInt8(ascii: "]"))
                    continue
                }
            case UInt8(ascii: "\""): _ = try skipString()
            case UInt8(ascii: "t"): try skip("true")
            case UInt8(ascii: "f"): try skip("false")
            case UInt8(ascii: "n"): try skip("null")
            default: _ = try skipNumber()
            }
            try closeContainers(&closers)
        } while !closers.isEmpty
    }

    /// Behind a value: skips the ends of containers, and a comma with the name that follows in an object.
    private mutating func closeContainers(_ closers: inout [UInt8]) throws(HARError) {
        while let closer = closers.last {
            let byte = try token()
            if byte == closer {
                index += 1
                closers.removeLast()
                continue
            }
            guard byte == UInt8(ascii: ",") else { throw fault(.malformedJSON, "a comma or the end is expected") }
            index += 1
            if closer == UInt8(ascii: "}") { try skipName() }
            return
        }
    }

    private mutating func skipName() throws(HARError) {
        guard try token() == UInt8(ascii: "\"") else { throw fault(.malformedJSON, "a name is expected") }
        _ = try skipString()
        guard try token() == UInt8(ascii: ":") else { throw fault(.malformedJSON, "a colon is expected") }
        index += 1
    }

    private mutating func skip(_ word: StaticString) throws(HARError) {
        for expected in word.description.utf8 {
            guard try need() == expected else { throw fault(.malformedJSON, "no value begins here") }
            index += 1
        }
    }

    mutating func skipNumber() throws(HARError) -> Double {
        var text: [UInt8] = []
        while let byte = try peek(), "+-.0123456789eE".utf8.contains(byte), text.count < 400 {
            text.append(byte)
            index += 1
        }
        if try peek() == nil { throw fault(.truncated, "the file ends within a value") }
        guard let number = JSONNumber.double(text) else { throw fault(.malformedJSON, "no value begins here") }
        return number
    }
}
