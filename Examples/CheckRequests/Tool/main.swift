import Foundation

// The part of `swift package check-requests` that doesn't need SwiftPM:
//     errand-check-requests --requirements FOLDER ... [--extended FOLDER ...] FOLDER ...
var (requirements, extended, checked): ([SymbolGraph], [SymbolGraph], [[SymbolGraph]]) = ([], [], [])
var arguments = CommandLine.arguments.dropFirst()
do {
    while let argument = arguments.popFirst() {
        if argument == "--requirements", let folder = arguments.popFirst() {
            requirements += try SymbolGraph.all(in: URL(filePath: folder))
        } else if argument == "--extended", let folder = arguments.popFirst() {
            extended += try SymbolGraph.all(in: URL(filePath: folder))
        } else {
            checked.append(try SymbolGraph.all(in: URL(filePath: argument)))
        }
    }
} catch {
    FileHandle.standardError.write(Data("errand-check-requests: \(error)\n".utf8))
    exit(2)
}
guard !requirements.isEmpty, !checked.isEmpty else {
    FileHandle.standardError.write(
        Data(
            "usage: errand-check-requests --requirements FOLDER [...] [--extended FOLDER [...]] FOLDER [...]\n".utf8))
    exit(2)
}
let check = RequirementCheck(requirements, and: extended + checked.joined())
let findings = checked.flatMap(check.findings(in:))
for finding in findings { print(finding) }
let types =
    findings.count == 1 ? "1 member isn't what its name says" : "\(findings.count) members aren't what their names say"
let hint = "to keep a member that isn't meant as a requirement, mark it: // not a requirement"
print(findings.isEmpty ? "every member that looks like a requirement is one" : "\(types)\n\(hint)")
exit(findings.isEmpty ? 0 : 1)
