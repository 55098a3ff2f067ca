import ErrandEssentials
import ErrandHTTPSyntax
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("The file names of Content-Disposition", .endsInTime, .leakChecked) struct FileNameTests {
    @Test(
        "filename* has precedence, and is read with apostrophes and a semicolon at its end",
        arguments: [
            ("attachment; filename*=UTF-8''file.txt;", "file.txt"),
            ("attachment; filename=\"MetLife%20MET.xlsx\"; filename*=UTF-8''MetLife%20MET.xlsx", "MetLife MET.xlsx"),
            ("attachment; filename=John's%20R.pdf; filename*=UTF-8''John's%20R.pdf", "John's R.pdf"),
            ("attachment; filename=\"=?UTF-8?Q?my_File.txt?=\"; filename*=UTF-8''my%20File.txt", "my File.txt"),
            ("attachment; filename*=UTF-8''Term%20%28PT%2C%20RU%29.zip", "Term (PT, RU).zip"),
        ])
    func extended(value: String, name: String) { #expect(ContentDisposition(parsing: value).fileName == name) }

    @Test(
        "a file name in mail's encoded words is decoded, as in browsers",
        arguments: [
            ("=?UTF-8?B?5pel5pys6KqeLmNzdg==?=", "日本語.csv"),
            (
                "=?utf-8?b?TUVJU0FJMjAyMTAxMjkyMzAwMjYuY3N2?=",
                "MEISAI20210129230026.csv"
            ), ("=?UTF-8?Q?my_File=E2=82=AC.txt?=", "my File€.txt"),
            ("=?ISO-8859-1?Q?caf=E9.txt?=", "café.txt"), ("=?Shift_JIS?B?k/qWew==?=", "日本"),
            ("=?UTF-8?B?5pel?= =?UTF-8?B?5pys?=.txt", "日本.txt"), ("=?UTF-8?B?5pel?=\t=?UTF-8?Q?=E6=9C=AC?=", "日本"),
            ("a =?UTF-8?Q?b?= c", "a b c"), ("=?UTF-8*en?Q?a?=", "a"),
        ])
    func encodedWords(value: String, name: String) {
        #expect(ContentDisposition(parsing: "attachment; filename=\"\(value)\"").fileName == name)
    }

    @Test(
        "a text that only resembles an encoded word is a name",
        arguments: [
            "=?UTF-8?B?5pel5pys", "=?UTF-8?X?abc?=", "=?none?Q?abc?=", "=?UTF-8?B?***?=", "=?UTF-8?Q?=FF?=",
            "=?UTF-8?Q?=G1?=", "=??Q?a?=", "=?UTF-8?Q?a b?=", "100%.txt", "a%20b.txt", "=?", "?=",
        ])
    func names(name: String) {
        #expect(ContentDisposition(parsing: "attachment; filename=\"\(name)\"").fileName == name)
    }

    @Test("many encoded words take linear time")
    func manyWords() {
        let value = String(repeating: "=?UTF-8?Q?a?= ", count: 500)
        #expect(ContentDisposition(parsing: "attachment; filename=\"\(value)\"").fileName?.hasPrefix("aaaa") == true)
        let open = String(repeating: "=?UTF-8?Q?", count: 700)
        #expect(ContentDisposition(parsing: "attachment; filename=\"\(open)\"").fileName == open)
    }

    @Test(
        "a sent file name is ASCII without control characters, and complete in filename*",
        arguments: [
            ("report \"final\".pdf", #"attachment; filename="report \"final\".pdf""#),
            ("rapor ünlü.pdf", "attachment; filename=\"rapor _nl_.pdf\"; filename*=UTF-8''rapor%20%C3%BCnl%C3%BC.pdf"),
            ("line\r\nX: 1.txt", "attachment; filename=\"line__X: 1.txt\"; filename*=UTF-8''line%0D%0AX%3A%201.txt"),
            ("myFile.txt", "attachment; filename=\"myFile.txt\""),
            ("John's (1).pdf", "attachment; filename=\"John's (1).pdf\""),
        ])
    func sent(name: String, value: String) {
        #expect(ContentDisposition(fileName: name).description == value)
        #expect(ContentDisposition(parsing: value).fileName == name)
    }

    @Test(
        "a media type keeps its parameters if commas or blanks are in the wrong place",
        arguments: [
            ("text/xml; charset=utf-8,charset=utf-8", "text/xml", "charset", "utf-8"),
            ("text/html; charset=utf-8,gbk", "text/html", "charset", "utf-8"),
            ("multipart/mixed; boundary=\"a,b\"; type=\"x/y\"", "multipart/mixed", "boundary", "a,b"),
            ("application/json ; charset = utf-8", "application/json", "charset", "utf-8"),
            ("text/html;charset=utf-8;", "text/html", "charset", "utf-8"),
            ("text/plain, text/html; charset=latin1", "text/html", "charset", "latin1"),
        ])
    func mediaTypes(value: String, essence: String, name: String, parameter: String) {
        let type = MediaType(parsing: value)
        #expect(type?.essence == essence && type?.parameters[name] == parameter)
        #expect(MediaType.essence(of: value) == essence)
    }
}
