import ErrandJSONSyntax

extension JSONText {
    /// The number of characters: Unicode scalars, with escapes resolved.
    var length: Int {
        var p = start
        var count = 0
        while p < end {
            let byte = p.pointee
            if byte == JSONGrammar.backslash, end - p >= 2 {
                let isUnicode = p[1] == 0x75
                // The second half of a pair does not count.
                if isUnicode, end - p >= 6, let unit = JSONGrammar.hexUnit(p + 2, end), unit & 0xFC00 == 0xDC00 {
                    count -= 1
                }
                p += isUnicode ? 6 : 2
                count += 1
            } else {
                if byte & 0xC0 != 0x80 { count += 1 }
                p += 1
            }
        }
        return count
    }
}
