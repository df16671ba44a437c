{{- /* What a release is called, what marks its parts, and what every pod of it has. */ -}}

{{- define "pawld.name" -}}
{{- if contains "pawld" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-pawld" (.Release.Name | trunc 46) }}{{ end }}
{{- end }}

{{- define "pawld.picks" -}}
app.kubernetes.io/name: pawld
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pawld.labels" -}}
{{ include "pawld.picks" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "pawld.image" -}}
{{- $of := required "image.repository: name the image that deploy/Containerfile makes" .Values.image.repository }}
{{- if .Values.image.digest }}{{ $of }}@{{ .Values.image.digest }}{{ else }}{{ $of }}:{{ required "image.tag or image.digest: say which image" .Values.image.tag }}{{ end }}
{{- end }}

{{- /* Files go to a volume unless they go to a bucket. */ -}}
{{- define "pawld.bucket" -}}
{{- dig "blobs" "url" "" .Values.settings | hasPrefix "s3://" | ternary "yes" "" }}
{{- end }}

{{- /* The port for agents of a fleet; empty for none. */ -}}
{{- define "pawld.agents" -}}
{{- dig "fleet" "listen" "" .Values.settings | splitList ":" | last }}
{{- end }}

{{- define "pawld.variable" -}}
PAWLD_{{ . | upper | replace "." "_" }}_FILE
{{- end }}

{{- define "pawld.pod" -}}
# A service called pawld would put PAWLD_PORT and others into the environment, and pawld
# refuses variables that it does not know.
enableServiceLinks: false
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "pawld.container" -}}
image: {{ include "pawld.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* Secrets as files, each called after its setting. */ -}}
{{- define "pawld.secrets" -}}
name: secrets
projected:
  defaultMode: 0440
  sources:
    {{- range $setting, $at := . }}
    - secret:
        name: {{ $at.name }}
        items: [{key: {{ $at.key | quote }}, path: {{ $setting | quote }}}]
    {{- end }}
{{- end }}
