import TestSupport
import Testing

/// The scripts read settings by the same rules as the server.
@Suite struct ScriptSettingTests {
    @Test(
        arguments: [
            (nil, "", "8080"), (nil, "BOOKPLATE_PORT=81\n", "81"),
            ("82", "BOOKPLATE_PORT=81\n", "82"),
            (nil, "export BOOKPLATE_PORT=\"83\" # mine\n", "83"),
            ("", "BOOKPLATE_PORT=81\n", "8080"),
            // Kubernetes sets this for a Service named `bookplate`.
            ("tcp://10.0.0.1:8080", "", "8080"), ("udp://10.0.0.1:53", "BOOKPLATE_PORT=81\n", "81"),
            ("http://10.0.0.1", "BOOKPLATE_PORT=81\n", "http://10.0.0.1"),
        ] as [(String?, String, String)])
    func settingsComeFromTheEnvironmentThenTheFileThenTheDefault(
        variable: String?, file: String, expected: String
    ) async throws {
        let folder = try Program.makeFolder()
        var environment = ["PATH": "/usr/bin:/bin"]
        environment["BOOKPLATE_PORT"] = variable
        let shell = Program(
            name: "bash", environment: environment, folder: folder, path: "/bin/bash")
        let outcome = try await shell.run(
            "-c",
            #"printf %s "$2" >.env; source "$1/scripts/common"; setting BOOKPLATE_PORT 8080"#,
            "bash", TestCluster.project, file)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output == expected)
    }
}
